// The parts that the Python module is put together from, a file each.
#pragma once

#include <nanobind/nanobind.h>

namespace pairpiece::bindings {

void bind_text(nanobind::module_& module);
void bind_models(nanobind::module_& module);
void bind_tokenizer(nanobind::module_& module);
void bind_learner(nanobind::module_& module);

}  // namespace pairpiece::bindings
