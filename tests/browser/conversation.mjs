// What runs in pages to see what a board holds, and to talk with the page for iframes. Each stands alone, because it is sent to a page as text.

/** The state of the page's board and its weights, as plain values. */
export function whatIsOn() {
  const element = document.querySelector('attention-playground'), {data, shape} = element.getTensor('weights');
  return {state: element.getState(), weights: {data: Array.from(data), shape}};
}

/** Makes calls of a board in a frame, one after the other; each with its answer, and the names of the events that came before that. */
export async function converse([address, calls]) {
  const frame = document.body.appendChild(Object.assign(document.createElement('iframe'), {width: 800, height: 440, src: address}));
  await new Promise((resolve) => frame.addEventListener('load', resolve));
  const {port1, port2} = new MessageChannel(), plain = (value) => JSON.parse(JSON.stringify(value, (key, one) => ArrayBuffer.isView(one) ? Array.from(one) : one) ?? 'null');
  let events = new Set(), answer;
  port1.onmessage = ({data}) => 'event' in data ? events.add(data.event) : answer(data);
  frame.contentWindow.postMessage({attention: 1, connect: true}, '*', [port2]);
  const said = [];
  for (const [index, [call, ...args]] of calls.entries()) {
    const answered = new Promise((resolve) => answer = resolve);
    port1.postMessage({id: index + 1, call, args});
    const {id, result, error} = await answered;
    said.push({id, call, args, ...error ? {error: {name: error.name, field: error.field}} : {result: plain(result)}, events: [...events]});
    events = new Set();
  }
  return said;
}
