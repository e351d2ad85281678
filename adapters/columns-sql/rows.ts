/** Rows of a result in `JSONEachRow` with `output_format_json_array_of_rows`: one array. */
export const rowsOf = <Row>(text: string): Row[] => (text === '' ? [] : (JSON.parse(text) as Row[]));
