// The Python face of the core: conversions, the interpreter lock and threads; nothing else.

#include "bindings.hpp"

NB_MODULE(_core, module) {
  using namespace pairpiece::bindings;
  nanobind::set_leak_warnings(false);  // objects may well live until the interpreter ends
  module.doc() = "The compiled core of pairpiece; not a public interface.";
  bind_text(module);
  bind_models(module);
  bind_tokenizer(module);
  bind_learner(module);
}
