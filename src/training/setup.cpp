#include "training/setup.h"

#include "base/number.h"
#include "base/sentence.h"

namespace training {

Setup recommended(Task task) {
  Setup s;
  s.task = task;
  switch (task) {
    case Task::tags:
    case Task::previous: break;
    case Task::induction: s.modelDim = 32; break;
    case Task::reverse: s.causal = false; break;
    case Task::most_frequent: s.causal = false, s.rate = 0.002; break;
    case Task::sort: s.causal = false; break;
    case Task::translate: s.modelDim = 32; break;
  }
  return s;
}

Result<void> validate(const Setup& s) {
  const auto within = [](std::string_view field, double value, double low, double high) -> Result<void> {
    if (value >= low && value <= high) return {};
    return base::refuse(Error::Kind::range, field,
                        {base::shortest(value), " is not between ", base::shortest(low), " and ",
                         base::shortest(high), "; use a number in between."});
  };
  if (auto ok = within("train_layers", s.layers, 1, Limits::layers); !ok) return ok;
  if (auto ok = within("train_heads", s.heads, 1, Limits::heads); !ok) return ok;
  if (auto ok = within("train_d_model", s.modelDim, 1, Limits::modelDim); !ok) return ok;
  if (auto ok = within("train_batch", s.batch, 1, Limits::batch); !ok) return ok;
  if (auto ok = within("train_rate", s.rate, Limits::lowestRate, Limits::highestRate); !ok) return ok;
  if (auto ok = within("train_dropout", s.dropout, 0, Limits::dropout); !ok) return ok;
  if (s.modelDim % s.heads != 0) {
    return base::refuse(Error::Kind::range, "train_heads",
                        {s.heads, " heads do not divide d_model = ", s.modelDim, "; use a divisor of it."});
  }
  if (s.position == Positions::rotary && s.modelDim / s.heads % 2 != 0) {
    return base::refuse(Error::Kind::range, "train_position",
                        {"rotary positions turn pairs of columns, and a head has ", s.modelDim / s.heads,
                         "; use an even number, or other positions."});
  }
  return {};
}

std::string modelKey(const Setup& s) {
  return base::joined({static_cast<int>(s.task),
                       " ",
                       s.layers,
                       " ",
                       s.heads,
                       " ",
                       s.modelDim,
                       " ",
                       int{s.feedForward},
                       int{s.layerNorm},
                       int{s.residual},
                       int{s.causal},
                       " ",
                       static_cast<int>(s.position),
                       " ",
                       static_cast<int>(s.score),
                       " ",
                       static_cast<int>(s.normalizer),
                       " ",
                       s.sentences});
}

const std::vector<float>* learnedNumbers(const Setup& setup) {
  return setup.learned && setup.learned->of == modelKey(setup) ? &setup.learned->numbers : nullptr;
}

}  // namespace training
