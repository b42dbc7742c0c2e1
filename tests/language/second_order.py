"""What is differentiated once and not twice: programs of the tables, with what the error says and why it is so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SecondOrderLimit:
    """``programs`` are names of ``tests/programs/every_program.py``."""

    title: str
    programs: tuple[str, ...]
    error: str
    reason: str
    shown: tuple[str, ...] = ()  # those that the page names, where there are many


#: Programs of ``test_kept_generators.py`` and ``test_generator_programs.py`` in which something is decided late.
KEPT = (
    "endless_zip endless_zip2 map filter zip_value islice islice_loop takewhile chain two_loops rebind mutates "
    "reads_mutated reads_list iter_growing return_value send_from close field tree tree_iter "
    "in_dict unpack unpack_genexp star_call star_list two_interleaved genexp_total genexp_array_any "
    "genexp_nested conditional loop_list_or_gen pipeline array_items class_attr_state zip_both local_def "
    "any_all np_from_list bool_gen recursion_arg nested_next nested_nonlocal genexp_passed genexp_two "
    "genexp_zip genexp_lazy returned_closure recursive_nested genexp_list defaults it_islice_list it_acc "
    "it_pairs it_repeat it_cycle it_star it_drop member dict_of_pairs starred iterators_in_a_list "
).split()
GENERATORS = ("effects twice next outer changed ").split()

SECOND_ORDER_LIMITS = (
    SecondOrderLimit(
        "`vjp` of a function that changes its arguments, inside differentiated code",
        ("containers-argument_returned_list", "arrays-arg_returned"),
        "changes its argument",
        "The pullback would have to run the function again, on arguments that are not what they were; `grad` and "
        "`value_and_grad` run it once and may be differentiated in forward mode.",
    ),
    SecondOrderLimit(
        "Derivatives around derivatives of `super().method(…)`",
        ("calls-inheritance", "standard_library-OBJECTS-setattr_behind_super", "standard_library-OBJECTS-sa_module", "standard_library-OBJECTS-sa_slots"),
        "class super",
        "What `super()` stands for is decided when the code runs; call the method by the name of its class.",
    ),
    SecondOrderLimit(
        "Attributes that a `__getattr__` computes",
        ("standard_library-OBJECTS-getattr_own",),
        "a second derivative through getattr()",
        "Whether an object has such an attribute is known only when the code runs; write a property.",
    ),
    SecondOrderLimit(
        "Changes of a dict that a function found at run time returned",
        ("containers-defaultdict",),
        "can't be followed",
        "Where it was made nothing said that it would be changed; make it with `{}`.",
    ),
    SecondOrderLimit(
        "Callees found only when the code runs that change what they are given",
        (
            "calls-map_mutating", "calls-partial_mutating", "calls-unknown_function",
            "calls-generator_of_views", "standard_library-FUNCTIONS-mc_active", "standard_library-DICTS-od_comprehension",
            "results_written-TABLE-made_generator", "standard_library-MANAGERS-cm_list",
            "standard_library-MANAGERS-cm_method", "standard_library-MANAGERS-cm_closing",
        ),
        "forward mode over SharedPull",
        "Which function it is, and what it changes, is known only when the code runs; call it by its name.",
        ("calls-map_mutating", "calls-partial_mutating", "calls-unknown_function", "standard_library-MANAGERS-cm_closing"),
    ),
    SecondOrderLimit(
        "Methods found only when the code runs that change their object",
        ("calls-object_holds_object",),
        "a second derivative through the method",
        "Call the method on an object that is made in the same function.",
    ),
    SecondOrderLimit(
        "Generators that are kept and catch an exception between two `yield`",
        ("kept-except_inside",),
        "may be unbound where it is read",
        "Catch it in the loop that uses the values, or make a list.",
    ),
    SecondOrderLimit(
        "Most generators that are kept",
        (*(f"kept-{name}" for name in KEPT), *(f"generators-{name}" for name in GENERATORS)),
        "forward mode over SharedPull",
        "What they go through, and what is done with what they hold, is decided when the code runs; collect the values in "
        "a list, or write a class with a method for each step.",
        ("kept-two_loops", "kept-genexp_passed", "kept-tree"),
    ),
    SecondOrderLimit(
        "What a callee has changed before it raised, inside a `try`",
        ("kept-raises", "kept-stop_value", "kept-finally_left", "kept-finally_returns", "kept-finally_changes",
         "standard_library-MANAGERS-cm_raises_out"),
        "was left half-way",
        "Raise before anything is changed.",
    ),
    SecondOrderLimit(
        "`types.SimpleNamespace`",
        ("calls-simple_namespace",),
        "SimpleNamespace",
        "Use a dataclass or a dict.",
    ),
    SecondOrderLimit(
        "The 'as' value of a manager that is not known to the compiler",
        ("guarded-with_exits-0",),
        "which is known only at run time, is used",
        "Give the value a name outside of the `with` statement.",
    ),
)

#: What is differentiated in reverse mode only.
FORWARD_LIMITS = (
    SecondOrderLimit(
        "Functions found only when the code runs that change what they are given",
        ("calls-partial_mutating", "calls-unknown_function"),
        "found only when the code runs, changes its argument",
        "Call the function by its name.",
    ),
    SecondOrderLimit(
        "`map` over a list with a function that changes its items",
        ("calls-map_mutating",),
        "iterating in this way over a value that the loop changes",
        "Write the loop.",
    ),
)
