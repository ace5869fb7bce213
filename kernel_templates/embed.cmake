# Writes OUTPUT, a C++ source that defines jitbag::templates::find for the files in TEMPLATES.
set(entries "")
foreach(file ${TEMPLATES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"template(${text})template\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"kernel_templates.hpp\"

namespace jitbag::templates {

std::string_view find(std::string_view name) {
  struct Entry {
    std::string_view name, text;
  };
  static constexpr Entry entries[] = {
${entries}  };
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry.text;
  }
  return {};
}

}  // namespace jitbag::templates
")
