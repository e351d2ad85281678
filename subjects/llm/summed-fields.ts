/** Fields of calls that sums of hours have. */
import type { Search } from '../../queries/search/tree.ts';

/** Fields by which sums are grouped and searched. */
const summedFields: ReadonlySet<string> = new Set([
  ...['projectId', 'provider', 'model', 'status', 'errorType', 'usageProblem', 'currency', 'priced', 'priceProblem'],
]);

export const isSummedField = (name: string): boolean => summedFields.has(name);

/** Returns whether sums have all fields of a search. */
export const hasOnlySummedFields = (search: Search): boolean => {
  switch (search.is) {
    case 'all':
      return true;
    case 'and':
    case 'or':
      return search.parts.every(hasOnlySummedFields);
    case 'not':
      return hasOnlySummedFields(search.part);
    case 'value':
      return search.reference.kind === 'field' && isSummedField(search.reference.field.name);
    default:
      return false;
  }
};
