# `cmake --install`: the libraries, their public headers and what find_package(jitbag) needs. The
# command is installed from its own folder.
option(JITBAG_INSTALL "Let `cmake --install` install jitbag" ${PROJECT_IS_TOP_LEVEL})
if(NOT JITBAG_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)
set(jitbag_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/jitbag)

install(TARGETS jitbag jitbag_cache EXPORT jitbagTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY engine/include/ cache/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT jitbagTargets NAMESPACE jitbag:: DESTINATION ${jitbag_package_folder})

configure_package_config_file(cmake/jitbagConfig.cmake.in ${PROJECT_BINARY_DIR}/jitbagConfig.cmake
                              INSTALL_DESTINATION ${jitbag_package_folder})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/jitbagConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/jitbagConfig.cmake
              ${PROJECT_BINARY_DIR}/jitbagConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindZstd.cmake
        DESTINATION ${jitbag_package_folder})
