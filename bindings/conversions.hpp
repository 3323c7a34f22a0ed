// Between Python objects and those of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "normalizer.hpp"
#include "parallel.hpp"
#include "utf8.hpp"

namespace pairpiece::bindings {

namespace nb = nanobind;

// Limits the memory one text can take: under NFKC a text grows at most elevenfold.
inline constexpr size_t kMaxTextBytes = size_t{1} << 28;
inline constexpr long kMaxPosition = long(kMaxTextBytes);

template <class T>
using Array = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> to_vector(const Array<T>& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

template <class T>
auto to_array(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

// UTF-8 views of Python strings, which it keeps alive: lists may change while the interpreter is
// unlocked.  Lone surrogates arrive as three invalid bytes each.
class Texts {
 public:
  std::string_view add(nb::handle text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!data) {
      if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
      PyErr_Clear();
      nb::object bytes =
          nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
      if (!bytes.is_valid()) throw nb::python_error();
      data = PyBytes_AS_STRING(bytes.ptr());
      size = PyBytes_GET_SIZE(bytes.ptr());
      kept_.push_back(std::move(bytes));
    } else {
      kept_.push_back(nb::borrow(text));
    }
    if (size_t(size) > kMaxTextBytes)
      throw std::invalid_argument("a text of more than 256 MiB: split it into lines first");
    return {data, size_t(size)};
  }

 private:
  std::vector<nb::object> kept_;
};

// Strings as code points; lone surrogates become U+FFFD.
inline std::vector<std::u32string> to_u32(const nb::list& strings) {
  Texts texts;
  std::vector<std::u32string> out;
  out.reserve(strings.size());
  for (nb::handle string : strings) {
    const std::string_view text = texts.add(string);
    std::u32string& characters = out.emplace_back();
    for (size_t i = 0; i < text.size();) {
      const Character c = decode_at(text, i);
      characters += c.code_point;
      i += c.bytes;
    }
  }
  return out;
}

// Well-formed strings: lone surrogates become U+FFFD.
inline std::vector<std::string> to_strings(const nb::list& strings) {
  Texts texts;
  std::vector<std::string> out;
  out.reserve(strings.size());
  for (nb::handle text : strings) out.push_back(sanitize(texts.add(text)));
  return out;
}

inline nb::str to_str(std::string_view text) { return nb::str(text.data(), text.size()); }

inline Normalizer to_normalizer(const nb::bytes& charsmap) {
  return Normalizer({charsmap.c_str(), charsmap.size()});
}

// Lists of tokens cannot form cycles, so no time is spent looking for them while they are made.
class CollectorPaused {
 public:
  CollectorPaused() : was_enabled_(PyGC_Disable()) {}
  ~CollectorPaused() {
    if (was_enabled_) PyGC_Enable();
  }
  CollectorPaused(const CollectorPaused&) = delete;

 private:
  int was_enabled_;
};

// A list or tuple, or anything else that can be iterated over, as it is now: what is done to a list
// later, by the code of an object that is read or by another thread, changes nothing.
class Sequence {
 public:
  // `complaint(what)` throws.
  template <class Complaint>
  Sequence(nb::handle object, Complaint complaint, const char* what)
      : items_(nb::steal(PySequence_Tuple(object.ptr()))) {
    if (!items_.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();
      complaint(what);
    }
  }
  size_t size() const { return size_t(PyTuple_GET_SIZE(items_.ptr())); }
  PyObject* operator[](size_t i) const { return PyTuple_GET_ITEM(items_.ptr(), Py_ssize_t(i)); }

 private:
  nb::object items_;
};

}  // namespace pairpiece::bindings
