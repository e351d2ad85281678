/** Writes the list of regular expressions that the checker found linear. Skips those that are listed already. */
import { writeFileSync } from 'node:fs';
import { expressionsOfProduct, faultOf, linearExpressions, linearFile } from './expressions.ts';

const known = linearExpressions();
const literals = new Set(expressionsOfProduct().flatMap(({ text, isLiteral }) => (isLiteral ? [text] : [])));
const linear = [...literals].filter((text) => known.has(text) || faultOf(text) === undefined);
writeFileSync(linearFile, `${linear.sort().join('\n')}\n`);
