"""A run of a model that was recorded, to be made again."""
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def evaluated(model):
    """Without dropout and gradients; afterwards the model is as it was."""
    were = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in were:
            module.training = training


class Run:
    """The model, what it was given, and how its numbers become words."""
    def __init__(self, call, model, args, inputs, tokenizer):
        self.call, self.model, self.args, self.inputs, self.tokenizer = call, model, args, inputs, tokenizer

    def logits(self, watch=None):
        """[batch, tokens, vocabulary], or [batch, classes], of float32; with a watch, ValueError where one of its changes was not made."""
        with evaluated(self.model):
            out = self.call(*self.args, **self.inputs)
        if watch:
            watch.check()
        found = out.get("logits") if isinstance(out, dict) else getattr(out, "logits", None)
        if found is None and isinstance(out, dict):
            raise ValueError("the model gives no logits (it gives %s); record one that does, such as the …ForCausalLM of transformers." % ", ".join(out))
        if found is None:
            found = out if isinstance(out, torch.Tensor) else next((one for one in out if isinstance(one, torch.Tensor)), None)
        if found is None:
            raise ValueError("the model gives no logits but %s." % type(out).__name__)
        found = found.detach().float().cpu().numpy()
        if not np.isfinite(found).all():
            raise ValueError("logits: the model gives numbers that are not finite%s." % (" after the change" if watch and watch.met else ""))
        return found

    def last(self, logits):
        """Logits [batch, vocabulary] at the last token that is no padding."""
        return logits[np.arange(len(logits)), self.ends(logits)] if logits.ndim == 3 else logits

    def ends(self, logits):
        """The last token that is no padding, of each entry of the batch."""
        mask = self.inputs.get("decoder_attention_mask", self.inputs.get("attention_mask") if "decoder_input_ids" not in self.inputs else None)
        if getattr(mask, "ndim", 0) == 2 and mask.shape[1] == logits.shape[1]:
            return [int(np.flatnonzero(row)[-1]) if any(row) else -1 for row in mask.tolist()]
        return [-1] * len(logits)

    def next(self, logits):
        """Log-probabilities [batch, vocabulary] at the last token that is no padding."""
        return log_softmax(self.last(logits))

    def word(self, number):
        return self.tokenizer.convert_ids_to_tokens(int(number)) if self.tokenizer is not None else str(number)

    def targets(self, text, logits):
        """What loss() takes, of numbers or words that somebody typed: one for the next token, or one for each token; the same for the whole batch."""
        words = text.replace(",", " ").split()
        if all(word.lstrip("-").isdigit() for word in words):
            numbers = [int(word) for word in words]
        elif self.tokenizer is None:
            raise ValueError("targets: %s is no number; words need record(…, tokenizer=…)." % next(word for word in words if not word.lstrip("-").isdigit()))
        else:
            numbers = list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        shape = logits.shape[:-1]
        length = shape[1] if len(shape) == 2 else 1
        if len(numbers) not in (1, length):
            raise ValueError("targets: there are %d; give 1, for what comes next%s." % (len(numbers), ", or %d, one for each token" % length if length > 1 else ""))
        out = np.full(shape, -100)
        if len(numbers) == length:
            out[:] = numbers if len(shape) == 2 else numbers[0]
        else:
            out[np.arange(len(out)), self.ends(logits)] = numbers[0]
        return out

    def loss(self, logits, targets):
        """Mean cross-entropy in nat over the targets that are not −100."""
        targets = np.asarray(targets.cpu() if hasattr(targets, "cpu") else targets)
        if targets.shape != logits.shape[:-1]:
            raise ValueError("targets: have the shape %s; the logits need %s." % (list(targets.shape), list(logits.shape[:-1])))
        counted = targets != -100
        if not counted.any() or targets[counted].min() < 0 or targets[counted].max() >= logits.shape[-1]:
            raise ValueError("targets: must be numbers from 0 to %d, or -100, and one of them at least must count." % (logits.shape[-1] - 1))
        return float(-np.take_along_axis(log_softmax(logits)[counted], targets[counted][:, None], 1).mean())


def log_softmax(logits):
    logits = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))
