"""What the switches of a notebook ask of the recorded model: its answer with some heads changed, and how much that depends on each head."""
import time
from contextlib import closing

from .edit import Editing, effects, heads_of

CHANGES = ("off", "scale", "uniform", "mean")
SLICE = 0.3  # seconds of one answer while all heads are tried: between two of them the reader can stop


class Switches:
    def __init__(self, recording):
        self.recording, self._before = recording, None

    def answer(self, changes, targets=""):
        """The ten likeliest next tokens, KL and, with targets as somebody typed them, the loss, of the first prompt: `changes` are [layer, head, what, factor]."""
        with self.recording.edit() as edit:
            for layer, head, what, by in changes:
                if what not in CHANGES:
                    raise ValueError("change: there is no %s; there are %s." % (what, ", ".join(CHANGES)))
                getattr(edit, what)(layer, head, *([by] if what == "scale" else []))
        loss = edit.loss(self.recording.run.targets(targets, edit.before)) if targets.strip() else None
        return {"top": [list(one) for one in edit.top()], "kl": float(edit.kl[0]), "loss": loss}

    def effect(self, first, targets=""):
        """By the number `first` of a head and those after it, as many as SLICE has time for: what Recording.effect() gives."""
        run, found, ends = self.recording.run, [], time.monotonic() + SLICE
        if not first or self._before is None:
            with Editing(run.model, {}):
                self._before = run.logits()
        target = run.targets(targets, self._before) if targets.strip() else None
        with closing(effects(self.recording, heads_of(self.recording)[first:], target, self._before)) as each:
            for value in each:
                found.append(float(value))
                if time.monotonic() > ends:
                    break
        return {"found": found}
