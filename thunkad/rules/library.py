"""The rule decorators as the library's own rule modules use them: the layer below the user's."""

from functools import partial

from thunkad.rules import define

rrule = partial(define.rrule, layer="library")
frule = partial(define.frule, layer="library")
scalar_rule = partial(define.scalar_rule, layer="library")
non_differentiable = partial(define.non_differentiable, layer="library")
opt_out = partial(define.opt_out, layer="library")
alternative = partial(define.alternative, layer="library")
