/** The statements of spans that call databases, as SQL. */

/** Attributes that hold a database statement with its literals, present names first. */
export const statementKeys = ['db.query.text', 'db.statement'] as const;

/** SQL of a span's statement without its literals, '' where it has none. */
export const normalizedStatement = `normalizeQuery(${statementKeys.reduceRight((rest, key) => `if(attributes['${key}'] != '', attributes['${key}'], ${rest})`, "''")})`;
