#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>

#include "compiler/nvrtc.hpp"
#include "jitbag/cache/environment.hpp"
#include "jitbag/cache/key.hpp"

namespace jitbag::compiler {
namespace {

namespace fs = std::filesystem;

void add_toolkit(std::vector<fs::path>& folders, const fs::path& root) {
  folders.push_back(root / "lib64");
  folders.push_back(root / "lib");
}

/// The `nvidia` folder of Python packages: nvidia/cu13/lib, nvidia/cuda_nvrtc/lib.
void add_nvidia_packages(std::vector<fs::path>& folders, const fs::path& packages) {
  folders.push_back(packages / "nvidia/cu13/lib");
  folders.push_back(packages / "nvidia/cuda_nvrtc/lib");
}

/// The packages of every Python below a `lib` folder.
void add_pythons(std::vector<fs::path>& folders, const fs::path& lib) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(lib, ignored)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    add_nvidia_packages(folders, entry.path() / "site-packages");
    add_nvidia_packages(folders, entry.path() / "dist-packages");
  }
}

/// Where pip puts packages for every python3 on PATH, without starting one.
void add_python(std::vector<fs::path>& folders) {
  for (const fs::path& bin : cache::environment_paths("PATH")) {
    std::error_code ignored;
    if (fs::exists(bin / "python3", ignored))
      add_pythons(folders, (bin / "../lib").lexically_normal());
  }
  if (const auto home = cache::environment("HOME")) {
    add_pythons(folders, fs::path(*home) / ".local/lib");
  }
  add_pythons(folders, "/usr/local/lib");
}

/// The numbers in "cuda-13.0", so that 13 comes after 9.
std::vector<int> version_of(const fs::path& toolkit) {
  std::vector<int> numbers;
  const std::string name = toolkit.filename().string();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) continue;
    int number = 0;
    const auto [end, error] = std::from_chars(name.data() + i, name.data() + name.size(), number);
    numbers.push_back(error == std::errc() ? number : 0);
    i = static_cast<std::size_t>(end - name.data());
  }
  return numbers;
}

/// /usr/local/cuda-13.0 and its like, where no link /usr/local/cuda names one of them; the last
/// version first.
void add_versioned_toolkits(std::vector<fs::path>& folders) {
  std::vector<fs::path> roots;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/local", ignored)) {
    if (entry.path().filename().string().starts_with("cuda-")) roots.push_back(entry.path());
  }
  std::ranges::sort(roots, std::ranges::greater(), version_of);
  for (const fs::path& root : roots) add_toolkit(folders, root);
}

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = cache::environment(variable)) add_toolkit(folders, *root);
  }
#ifdef JITBAG_SETUP_FOLDER
  add_nvidia_packages(folders, JITBAG_SETUP_FOLDER);
#endif
  for (const fs::path& folder : cache::environment_paths("LD_LIBRARY_PATH"))
    folders.push_back(folder);
  add_python(folders);
  add_toolkit(folders, "/usr/local/cuda");
  add_versioned_toolkits(folders);
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                             "/usr/lib64", "/usr/lib", "/opt/cuda/lib64"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

/// NVRTC that this process already holds, as under PyTorch: a second one would only cost memory.
std::optional<fs::path> already_loaded() {
  std::optional<fs::path> found;
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
    if (fs::path(path).filename().string().starts_with("libnvrtc.so")) {
      *static_cast<std::optional<fs::path>*>(data) = fs::path(path);
      return 1;
    }
    return 0;
  };
  dl_iterate_phdr(look, &found);
  return found;
}

/// Whether a file begins as a 64-bit ELF file: a name alone is no library.
bool is_library(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::ifstream stream(path, std::ios::binary);
  std::array<char, EI_CLASS + 1> start{};
  stream.read(start.data(), start.size());
  return stream && std::memcmp(start.data(), ELFMAG, SELFMAG) == 0 && start[EI_CLASS] == ELFCLASS64;
}

constexpr std::array library_names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::optional<fs::path> find_file() {
  if (is_turned_off()) return {};
  if (const auto named = cache::environment("JITBAG_NVRTC")) {
    std::error_code ignored;
    return fs::is_regular_file(*named, ignored) ? std::optional<fs::path>(*named) : std::nullopt;
  }
  if (auto loaded = already_loaded()) return loaded;
  for (const fs::path& folder : library_folders()) {
    for (const char* name : library_names) {
      if (is_library(folder / name)) return folder / name;
    }
  }
  return {};
}

/// Reads parts of one file.
class File {
 public:
  explicit File(const fs::path& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool read(void* target, std::size_t bytes, std::uint64_t offset) const {
    return descriptor_ >= 0 && ::pread(descriptor_, target, bytes, static_cast<off_t>(offset)) ==
                                   static_cast<ssize_t>(bytes);
  }

 private:
  int descriptor_;
};

std::string hex(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

/// The descriptor of NT_GNU_BUILD_ID among the notes of one segment.
std::string build_id_in(const std::vector<unsigned char>& notes) {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  std::size_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t descriptor = name + padded(note.n_namesz);
    if (descriptor + note.n_descsz > notes.size()) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      return hex(notes.data() + descriptor, note.n_descsz);
    }
    at = descriptor + padded(note.n_descsz);
  }
  return {};
}

std::string gnu_build_id(const fs::path& path) {
  const File file(path);
  Elf64_Ehdr header;
  if (!file.read(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return {};
  }
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const auto offset = header.e_phoff + static_cast<std::uint64_t>(i) * sizeof segment;
    if (!file.read(&segment, sizeof segment, offset)) return {};
    if (segment.p_type != PT_NOTE || segment.p_filesz > 65536) continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (!file.read(notes.data(), notes.size(), segment.p_offset)) return {};
    if (std::string id = build_id_in(notes); !id.empty()) return id;
  }
  return {};
}

/// For a library that was linked without a build id.
std::string digest_of_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(stream)),
                          std::istreambuf_iterator<char>());
  return cache::sha256(std::as_bytes(std::span(bytes))).hex();
}

}  // namespace

bool is_turned_off() {
  return cache::environment("JITBAG_NVRTC") == "none";
}

std::optional<Library> find() {
  const auto path = find_file();
  if (!path) return {};
  std::string id = gnu_build_id(*path);
  if (id.empty()) id = digest_of_file(*path);
  return Library{*path, id};
}

std::vector<std::string> searched_places() {
  if (is_turned_off()) return {"nowhere (JITBAG_NVRTC is none)"};
  std::vector<std::string> places;
  if (const auto named = cache::environment("JITBAG_NVRTC"))
    return {fmt::format("{} (JITBAG_NVRTC)", *named)};
  places.emplace_back("libraries this process has loaded");
  for (const fs::path& folder : library_folders()) {
    if (std::find(places.begin(), places.end(), folder.string()) == places.end()) {
      places.push_back(folder.string());
    }
  }
  return places;
}

std::string missing_sentence() {
  if (is_turned_off())
    return "NVRTC, which compiles kernels, is turned off by JITBAG_NVRTC=none; unset that to "
           "compile.";
  return fmt::format(
      "NVRTC, which compiles kernels, was not found: looked for libnvrtc.so.13 and libnvrtc.so.12 "
      "in {}. "
      "Install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or name the file in "
      "JITBAG_NVRTC.",
      fmt::join(searched_places(), ", "));
}

}  // namespace jitbag::compiler
