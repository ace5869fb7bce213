# jitbag::cuda_headers: the folder of cuda.h and nvrtc.h. Only the headers are needed to build; the
# driver and NVRTC themselves are opened when they are first used.
find_path(JITBAG_CUDA_H cuda.h
          HINTS ${JITBAG_CUDA_INCLUDE} ${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13/include
                $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include)
find_path(JITBAG_NVRTC_H nvrtc.h
          HINTS ${JITBAG_CUDA_INCLUDE} ${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13/include
                $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include)
if(NOT JITBAG_CUDA_H OR NOT JITBAG_NVRTC_H)
  message(FATAL_ERROR "cuda.h or nvrtc.h was not found. Install the CUDA toolkit, or run "
                      "`make setup`, which puts both into build/cuda, or set JITBAG_CUDA_INCLUDE.")
endif()
add_library(jitbag_cuda_headers INTERFACE)
add_library(jitbag::cuda_headers ALIAS jitbag_cuda_headers)
target_include_directories(jitbag_cuda_headers SYSTEM INTERFACE $<BUILD_INTERFACE:${JITBAG_CUDA_H}>
                                                                $<BUILD_INTERFACE:${JITBAG_NVRTC_H}>)
