/** Conditions of row filters, in both directions. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import { lookUp } from './lens.ts';

const conditionsByGrafanaId: Readonly<Record<string, string>> = {
  isNull: 'null',
  isNotNull: 'not-null',
  equal: 'equal',
  notEqual: 'not-equal',
  substring: 'contains',
  notSubstring: 'not-contains',
  regex: 'matches',
  greater: 'above',
  greaterOrEqual: 'at-least',
  lower: 'below',
  lowerOrEqual: 'at-most',
  range: 'between',
};

const readCondition = (filter: Fields): object | undefined => {
  const { fieldName, config } = filter;
  if (typeof fieldName !== 'string' || fieldName === '' || !isFields(config)) return undefined;
  const conditionKind = lookUp(conditionsByGrafanaId, String(config['id']));
  const { value, from, to } = isFields(config['options']) ? config['options'] : {};
  const base = { field: fieldName, is: conditionKind };
  const toNumberIfNumeric = (operand: unknown): unknown =>
    typeof operand === 'string' && operand.trim() !== '' && Number.isFinite(Number(operand))
      ? Number(operand)
      : operand;
  switch (conditionKind) {
    case undefined:
      return undefined;
    case 'null':
    case 'not-null':
      return base;
    case 'matches':
      return { ...base, pattern: value };
    case 'between':
      return { ...base, from: toNumberIfNumeric(from), to: toNumberIfNumeric(to) };
    case 'above':
    case 'at-least':
    case 'below':
    case 'at-most':
      return { ...base, value: toNumberIfNumeric(value) };
    default:
      return { ...base, value };
  }
};

/** Returns undefined if one of the conditions has no equivalent. */
export const readRowFilter = (options: Fields, ledger: Ledger): Fields | undefined => {
  const filters = toFieldsList(options['filters']);
  const converted = filters.map(readCondition);
  if (converted.length === 0 || converted.includes(undefined)) return undefined;
  ledger.carry(options, 'filters');
  return { conditions: converted };
};

export const writeRowFilter = ({ conditions: oiqConditions }: Fields): Fields => ({
  filters: (oiqConditions as readonly Fields[]).map(({ field: fieldName, is, pattern, ...options }) => ({
    fieldName,
    config: {
      id: Object.entries(conditionsByGrafanaId).find(([, ours]) => ours === is)?.[0],
      options: pattern === undefined ? options : { value: pattern },
    },
  })),
});
