/* SPDX-License-Identifier: MIT */
/*
 * api.h - the functions of DuckDB's C interface that we use, as its documentation declares them. They are found in the
 * library by their names when it is loaded: there is no other header.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What belongs to the library: all of these are pointers to something of its own. */
typedef void *duck_handle;

/* Of this one the caller has the memory. The library looks only at what lies behind the pointer at its end. */
struct duck_result {
	uint64_t unused[3];
	void *unused_columns;
	char *unused_error;
	void *internal;
};

/* A text in a column: up to 12 bytes stand in it, more lie elsewhere. */
#define DUCK_INLINE_MAX 12u
union duck_string {
	struct {
		uint32_t len;
		char inlined[DUCK_INLINE_MAX];
	};
	struct {
		uint32_t len_;
		char prefix[4];
		const char *data;
	} far;
};
_Static_assert(sizeof(union duck_string) == 16, "as the library has it");

struct duck_list {
	uint64_t offset, len;
};

struct duck_interval {
	int32_t months, days;
	int64_t us;
};

struct duck_hugeint {
	uint64_t low;
	int64_t high;
};

enum duck_type {
	DUCK_BOOLEAN = 1,
	DUCK_TINYINT,
	DUCK_SMALLINT,
	DUCK_INTEGER,
	DUCK_BIGINT,
	DUCK_UTINYINT,
	DUCK_USMALLINT,
	DUCK_UINTEGER,
	DUCK_UBIGINT,
	DUCK_FLOAT,
	DUCK_DOUBLE,
	DUCK_TIMESTAMP, /* us since 1970 */
	DUCK_DATE,      /* days since 1970 */
	DUCK_TIME,      /* us since midnight */
	DUCK_INTERVAL,
	DUCK_HUGEINT,
	DUCK_VARCHAR,
	DUCK_BLOB,
	DUCK_DECIMAL,
	DUCK_TIMESTAMP_S,
	DUCK_TIMESTAMP_MS,
	DUCK_TIMESTAMP_NS,
	DUCK_ENUM,
	DUCK_LIST,
	DUCK_STRUCT,
	DUCK_MAP,
	DUCK_TIMESTAMP_TZ = 31,
	DUCK_UHUGEINT = 32,
	DUCK_SQLNULL = 36,
};

/* F(what it returns, its name without duckdb_, its parameters) */
#define DUCK_FUNCTIONS(F)                                                                            \
	F(const char *, library_version, (void))                                                     \
	F(int, create_config, (duck_handle * config))                                                \
	F(int, set_config, (duck_handle config, const char *name, const char *option))               \
	F(void, destroy_config, (duck_handle * config))                                              \
	F(int, open_ext, (const char *path, duck_handle *db, duck_handle config, char **error))      \
	F(void, close, (duck_handle * db))                                                           \
	F(int, connect, (duck_handle db, duck_handle *connection))                                   \
	F(void, disconnect, (duck_handle * connection))                                              \
	F(void, interrupt, (duck_handle connection))                                                 \
	F(void, free, (void *memory))                                                                \
	/* Statements. */                                                                            \
	F(uint64_t, extract_statements, (duck_handle connection, const char *sql, duck_handle *all))  \
	F(const char *, extract_statements_error, (duck_handle all))                                 \
	F(void, destroy_extracted, (duck_handle * all))                                              \
	F(int, prepare_extracted_statement,                                                          \
	  (duck_handle connection, duck_handle all, uint64_t i, duck_handle *statement))             \
	F(const char *, prepare_error, (duck_handle statement))                                      \
	F(void, destroy_prepare, (duck_handle * statement))                                          \
	F(uint64_t, nparams, (duck_handle statement))                                                \
	F(char *, parameter_name, (duck_handle statement, uint64_t i))                               \
	F(int, bind_varchar, (duck_handle statement, uint64_t i, const char *text))                  \
	F(int, execute_prepared, (duck_handle statement, struct duck_result *result))                \
	F(int, query, (duck_handle connection, const char *sql, struct duck_result *result))         \
	/* What comes of them. */                                                                    \
	F(const char *, result_error, (struct duck_result * result))                                 \
	F(void, destroy_result, (struct duck_result * result))                                       \
	F(int, result_return_type, (struct duck_result result))                                      \
	F(uint64_t, rows_changed, (struct duck_result * result))                                     \
	F(uint64_t, column_count, (struct duck_result * result))                                     \
	F(const char *, column_name, (struct duck_result * result, uint64_t column))                 \
	F(duck_handle, column_logical_type, (struct duck_result * result, uint64_t column))          \
	F(duck_handle, fetch_chunk, (struct duck_result result))                                     \
	/* Types. */                                                                                 \
	F(duck_handle, create_logical_type, (int type))                                              \
	F(duck_handle, create_list_type, (duck_handle type))                                         \
	F(duck_handle, create_struct_type, (duck_handle * types, const char **names, uint64_t n))    \
	F(duck_handle, create_enum_type, (const char **names, uint64_t n))                           \
	F(void, destroy_logical_type, (duck_handle * type))                                          \
	F(int, get_type_id, (duck_handle type))                                                      \
	F(duck_handle, list_type_child_type, (duck_handle type))                                     \
	F(duck_handle, map_type_key_type, (duck_handle type))                                        \
	F(duck_handle, map_type_value_type, (duck_handle type))                                      \
	F(uint64_t, struct_type_child_count, (duck_handle type))                                     \
	F(char *, struct_type_child_name, (duck_handle type, uint64_t i))                            \
	F(duck_handle, struct_type_child_type, (duck_handle type, uint64_t i))                       \
	F(uint8_t, decimal_scale, (duck_handle type))                                                \
	F(int, decimal_internal_type, (duck_handle type))                                            \
	/* Rows, in columns. */                                                                      \
	F(uint64_t, vector_size, (void))                                                             \
	F(duck_handle, create_data_chunk, (duck_handle * types, uint64_t n))                         \
	F(void, destroy_data_chunk, (duck_handle * chunk))                                           \
	F(void, data_chunk_reset, (duck_handle chunk))                                               \
	F(uint64_t, data_chunk_get_size, (duck_handle chunk))                                        \
	F(void, data_chunk_set_size, (duck_handle chunk, uint64_t n))                                \
	F(duck_handle, data_chunk_get_vector, (duck_handle chunk, uint64_t column))                  \
	F(void *, vector_get_data, (duck_handle vector))                                             \
	F(uint64_t *, vector_get_validity, (duck_handle vector))                                     \
	F(void, vector_ensure_validity_writable, (duck_handle vector))                               \
	F(void, vector_assign_string_element_len,                                                    \
	  (duck_handle vector, uint64_t i, const char *text, uint64_t len))                          \
	F(duck_handle, list_vector_get_child, (duck_handle vector))                                  \
	F(int, list_vector_set_size, (duck_handle vector, uint64_t n))                               \
	F(int, list_vector_reserve, (duck_handle vector, uint64_t n))                                \
	F(duck_handle, struct_vector_get_child, (duck_handle vector, uint64_t i))                    \
	F(int, appender_create,                                                                      \
	  (duck_handle connection, const char *schema, const char *table, duck_handle *appender))    \
	F(int, append_data_chunk, (duck_handle appender, duck_handle chunk))                         \
	F(const char *, appender_error, (duck_handle appender))                                      \
	F(int, appender_close, (duck_handle appender))                                               \
	F(int, appender_destroy, (duck_handle * appender))                                           \
	/* Functions that are tables. */                                                             \
	F(duck_handle, create_table_function, (void))                                                \
	F(void, destroy_table_function, (duck_handle * function))                                    \
	F(void, table_function_set_name, (duck_handle function, const char *name))                   \
	F(void, table_function_add_parameter, (duck_handle function, duck_handle type))              \
	F(void, table_function_set_extra_info, (duck_handle function, void *info, void (*free)(void *))) \
	F(void, table_function_set_bind, (duck_handle function, void (*bind)(duck_handle)))           \
	F(void, table_function_set_init, (duck_handle function, void (*init)(duck_handle)))           \
	F(void, table_function_set_local_init, (duck_handle function, void (*init)(duck_handle)))     \
	F(void, table_function_set_function, (duck_handle function, void (*run)(duck_handle, duck_handle))) \
	F(void, table_function_supports_projection_pushdown, (duck_handle function, bool does))      \
	F(int, register_table_function, (duck_handle connection, duck_handle function))              \
	F(void *, bind_get_extra_info, (duck_handle info))                                           \
	F(duck_handle, bind_get_parameter, (duck_handle info, uint64_t i))                           \
	F(int64_t, get_int64, (duck_handle value))                                                   \
	F(void, destroy_value, (duck_handle * value))                                                \
	F(void, bind_add_result_column, (duck_handle info, const char *name, duck_handle type))      \
	F(void, bind_set_bind_data, (duck_handle info, void *data, void (*free)(void *)))            \
	F(void, bind_set_error, (duck_handle info, const char *error))                               \
	F(void *, init_get_bind_data, (duck_handle info))                                            \
	F(uint64_t, init_get_column_count, (duck_handle info))                                       \
	F(uint64_t, init_get_column_index, (duck_handle info, uint64_t i))                           \
	F(void, init_set_init_data, (duck_handle info, void *data, void (*free)(void *)))            \
	F(void, init_set_max_threads, (duck_handle info, uint64_t n))                                \
	F(void, init_set_error, (duck_handle info, const char *error))                               \
	F(void *, function_get_bind_data, (duck_handle info))                                        \
	F(void *, function_get_init_data, (duck_handle info))                                        \
	F(void *, function_get_local_init_data, (duck_handle info))                                  \
	F(void, function_set_error, (duck_handle info, const char *error))

struct duck_api {
#define DUCK_MEMBER(result, name, parameters) result(*name) parameters;
	DUCK_FUNCTIONS(DUCK_MEMBER)
#undef DUCK_MEMBER
};

/* The library's, once hodo_duck_load() has found it. */
extern struct duck_api duck;
