// attention-playground/core in a worker: answers each call with its output.
import {loadAttention} from '/core.js';

onmessage = async ({data: {kernel, call}}) => {
  const attention = await loadAttention({kernel});
  postMessage({kernel: attention.kernel, output: Array.from(attention.forward(call).output)});
};
