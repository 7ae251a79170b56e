# What PROGRAM prints with OPTION, in the file OUT: whole or not at all.
execute_process(COMMAND "${PROGRAM}" ${OPTION} OUTPUT_FILE "${OUT}.part" COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${OUT}.part" "${OUT}")
