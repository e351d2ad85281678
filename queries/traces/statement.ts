/** SQL of the statements in database client spans. */

/** Attributes with a database statement including its literals, current names first. */
export const statementKeys = ['db.query.text', 'db.statement'] as const;

/** SQL for a span's statement without literals; '' if the span has no statement. */
export const normalizedStatementSql = `normalizeQuery(${statementKeys.reduceRight((rest, key) => `if(attributes['${key}'] != '', attributes['${key}'], ${rest})`, "''")})`;
