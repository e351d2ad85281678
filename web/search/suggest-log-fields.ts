/** Suggestions for the search of logs: field names and values, the most frequent first */
import type { listLogFields } from '../../api/groups/logs/fields.ts';
import type { listLogFieldValues } from '../../api/groups/logs/values.ts';
import { declareCall } from '../client/call.ts';
import { request } from '../client/request.ts';
import { projectScope } from '../frame/project.ts';
import { timeRange } from '../frame/time-range.ts';
import { getFieldNames } from './problem.ts';
import type { Suggest } from './suggestions.ts';

export const fieldsCall = declareCall<typeof listLogFields>('GET', '/api/logs/fields');
export const fieldValuesCall = declareCall<typeof listLogFieldValues>('GET', '/api/logs/fields/{name}/values');

const maxSuggestions = 12;
const numberFormat = new Intl.NumberFormat('en');

export const suggestLogFields: Suggest = async (input, signal) => {
  const scope = { ...timeRange.peek(), ...projectScope.peek() };
  if (input.kind === 'value') {
    const query = { ...scope, prefix: input.prefix || undefined, limit: maxSuggestions };
    const { items } = await request(fieldValuesCall, { params: { name: input.name }, query }, signal);
    return items.map(({ value, records }) => ({ text: value, note: numberFormat.format(records) }));
  }
  const prefix = input.prefix.toLowerCase();
  const { items } = await request(
    fieldsCall,
    { query: { ...scope, contains: input.prefix || undefined, limit: maxSuggestions } },
    signal,
  );
  const storedFields = items.map(({ name, records }) => ({ text: name, note: numberFormat.format(records) }));
  const knownFields = getFieldNames('logs')
    .filter((name) => name.toLowerCase().startsWith(prefix) && !storedFields.some(({ text }) => text === name))
    .map((text) => ({ text }));
  const getPrefixRank = ({ text }: { readonly text: string }): number => Number(!text.toLowerCase().startsWith(prefix));
  return [...storedFields, ...knownFields]
    .sort((left, right) => getPrefixRank(left) - getPrefixRank(right))
    .slice(0, maxSuggestions);
};
