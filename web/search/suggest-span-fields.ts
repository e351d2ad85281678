/** Suggestions for the search of spans: field names and the most frequent values of a field */
import type { listTraceFields } from '../../api/groups/traces/fields.ts';
import type { searchSpans } from '../../api/groups/traces/spans.ts';
import { declareCall } from '../client/call.ts';
import { request } from '../client/request.ts';
import { quote } from '../frame/conditions.ts';
import { projectScope } from '../frame/project.ts';
import { timeRange } from '../frame/time-range.ts';
import { getFieldNames } from './problem.ts';
import type { Suggest, Suggestion } from './suggestions.ts';

const fieldsCall = declareCall<typeof listTraceFields>('GET', '/api/traces/fields');
export const spansCall = declareCall<typeof searchSpans>('GET', '/api/spans');

const maxSuggestions = 12;
const number = new Intl.NumberFormat('en');

/** Fetches the values of a field with their span counts. */
const fetchValues = async (name: string, prefix: string, signal: AbortSignal): Promise<Suggestion[]> => {
  const query = { ...timeRange.peek(), ...projectScope.peek(), measure: 'count', groupBy: quote(name), limit: 100 };
  const { aggregate } = await request(spansCall, { query }, signal);
  const lowerCasePrefix = prefix.toLowerCase();
  return (aggregate?.rows ?? [])
    .map(([value, count]) => ({ text: String(value), note: number.format(Number(count)) }))
    .filter(({ text }) => text !== '' && text.toLowerCase().startsWith(lowerCasePrefix))
    .slice(0, maxSuggestions);
};

export const suggestSpanFields: Suggest = async (input, signal) => {
  if (input.kind === 'value') return fetchValues(input.name, input.prefix, signal);
  const scope = { ...timeRange.peek(), ...projectScope.peek() };
  const prefix = input.prefix.toLowerCase();
  const builtInFields = getFieldNames('traces').filter((name) => name.toLowerCase().startsWith(prefix));
  const { items } = await request(
    fieldsCall,
    { query: { ...scope, contains: input.prefix || undefined, limit: maxSuggestions } },
    signal,
  );
  const otherFields = items.filter(({ name }) => !builtInFields.includes(name));
  return [
    ...builtInFields.map((text) => ({ text })),
    ...otherFields.map(({ name, records }) => ({ text: name, note: number.format(records) })),
  ].slice(0, maxSuggestions);
};

/** Suggests the services that sent spans. */
export const suggestServices: Suggest = ({ prefix }, signal) => fetchValues('service', prefix, signal);
