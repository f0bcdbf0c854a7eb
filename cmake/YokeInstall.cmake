# What `cmake --install` puts where.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/yoke)

install(DIRECTORY include/yoke DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS yoke_shared yoke_static EXPORT yokeTargets)
install(TARGETS yoke_tool)
install(EXPORT yokeTargets NAMESPACE yoke:: DESTINATION ${package_directory})

configure_package_config_file(cmake/yokeConfig.cmake.in yokeConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(yokeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/yokeConfig.cmake ${PROJECT_BINARY_DIR}/yokeConfigVersion.cmake DESTINATION ${package_directory})

# Relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
configure_file(cmake/yoke.pc.in yoke.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/yoke.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES docs/man/yoke.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES LICENSE LICENSES.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES apps/fem/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/apps/fem)
