/** Suggests span field names, and the most frequent values of a field */
import { request } from '../../client/request.ts';
import { quoted } from '../../frame/conditions.ts';
import { projectScope } from '../../frame/project.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { fieldNames } from '../../search/problem.ts';
import type { Suggest, Suggestion } from '../../search/suggestions.ts';
import { fieldsCall, spansCall } from './calls.ts';

const maxSuggestions = 12;
const number = new Intl.NumberFormat('en');

/** Returns the values of a field with their span counts. */
const valuesOf = async (name: string, prefix: string, signal: AbortSignal): Promise<Suggestion[]> => {
  const query = { ...writtenRange.peek(), ...projectScope.peek(), measure: 'count', groupBy: quoted(name), limit: 100 };
  const { aggregate } = await request(spansCall, { query }, signal);
  const begins = prefix.toLowerCase();
  return (aggregate?.rows ?? [])
    .map(([value, count]) => ({ text: String(value), note: number.format(Number(count)) }))
    .filter(({ text }) => text !== '' && text.toLowerCase().startsWith(begins))
    .slice(0, maxSuggestions);
};

export const suggestOfTraces: Suggest = async (typed, signal) => {
  if (typed.is === 'value') return valuesOf(typed.name, typed.prefix, signal);
  const scope = { ...writtenRange.peek(), ...projectScope.peek() };
  const prefix = typed.prefix.toLowerCase();
  const own = fieldNames('traces').filter((name) => name.toLowerCase().startsWith(prefix));
  const { items } = await request(
    fieldsCall,
    { query: { ...scope, contains: typed.prefix || undefined, limit: maxSuggestions } },
    signal,
  );
  const counted = items.filter(({ name }) => !own.includes(name));
  return [
    ...own.map((text) => ({ text })),
    ...counted.map(({ name, records }) => ({ text: name, note: number.format(records) })),
  ].slice(0, maxSuggestions);
};
