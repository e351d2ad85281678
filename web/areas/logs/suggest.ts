/** Suggests field names and values, the most frequent first */
import { request } from '../../client/request.ts';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { getFieldNames } from '../../search/problem.ts';
import type { Suggest } from '../../search/suggestions.ts';
import { fieldsCall, valuesCall } from './calls.ts';

const maxSuggestions = 12;
const number = new Intl.NumberFormat('en');

export const suggestLogFields: Suggest = async (typed, signal) => {
  const scope = { ...timeRange.peek(), ...projectScope.peek() };
  if (typed.kind === 'value') {
    const query = { ...scope, prefix: typed.prefix || undefined, limit: maxSuggestions };
    const { items } = await request(valuesCall, { params: { name: typed.name }, query }, signal);
    return items.map(({ value, records }) => ({ text: value, note: number.format(records) }));
  }
  const prefix = typed.prefix.toLowerCase();
  const { items } = await request(
    fieldsCall,
    { query: { ...scope, contains: typed.prefix || undefined, limit: maxSuggestions } },
    signal,
  );
  const storedFields = items.map(({ name, records }) => ({ text: name, note: number.format(records) }));
  const knownFields = getFieldNames('logs')
    .filter((name) => name.toLowerCase().startsWith(prefix) && !storedFields.some(({ text }) => text === name))
    .map((text) => ({ text }));
  const prefixRank = ({ text }: { readonly text: string }): number => Number(!text.toLowerCase().startsWith(prefix));
  return [...storedFields, ...knownFields]
    .sort((one, two) => prefixRank(one) - prefixRank(two))
    .slice(0, maxSuggestions);
};
