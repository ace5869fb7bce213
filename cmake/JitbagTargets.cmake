# jitbag_compile_quickly(target): for what takes longer to compile than it ever runs. Saves a third
# of the time of -O3.
function(jitbag_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# jitbag_compile_together(target): for sources whose headers (the standard library, fmt, CLI11, the JSON library,
# Catch2) take longer to compile than they do: sixteen at a time are one for the compiler, in a third of the
# time. The names in their unnamed namespaces have to differ. `make lint` compiles each by itself.
function(jitbag_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${JITBAG_COMPILE_TOGETHER}
                                             UNITY_BUILD_BATCH_SIZE 16)
  if(JITBAG_COMPILE_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It is meant for headers, and takes sources that are compiled as one for such.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# jitbag_settings(target): the language level, warnings and sanitizers that every target here shares.
function(jitbag_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 sees overlaps in std::string that are not there (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(JITBAG_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(JITBAG_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${JITBAG_SANITIZE} -fno-sanitize-recover=all
                                            -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${JITBAG_SANITIZE})
    if(JITBAG_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # It does not follow fences, and says so of the one that a report of the GPU needs.
      target_compile_options(${target} PRIVATE -Wno-tsan)
    endif()
  endif()
endfunction()
