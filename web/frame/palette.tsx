/** Command palette that finds areas, services, dashboards and saved queries by name, and traces by id */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { listDashboards } from '../../api/groups/dashboards/list.ts';
import type { savedQueryResource } from '../../api/groups/saved-queries/saved-query.ts';
import type { listServices } from '../../api/groups/services/list.ts';
import type { Query } from '../../queries/query.ts';
import { declareCall, declareListCall } from '../client/call.ts';
import { request } from '../client/request.ts';
import { navigate, toArea } from './address.ts';
import { type Area, explainClosedArea } from './area.ts';
import { renderText } from './display-text.tsx';
import { projectScope } from './project.ts';
import { getDataLink } from './query-links.ts';
import { timeRange } from './time-range.ts';

/** A navigation target */
interface Destination {
  readonly kind: string;
  readonly name: string;
  readonly url: string;
}

const maxPerKind = 8;
const searchDelayMs = 120;

const services = declareCall<typeof listServices>('GET', '/api/services');
const dashboards = declareCall<typeof listDashboards>('GET', '/api/dashboards');
const savedQueries = declareListCall<typeof savedQueryResource>('/api/saved-queries');

/** Returns the matches from the API. Failed requests have no matches. */
const searchDestinations = async (
  text: string,
  canOpen: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Destination[]> => {
  const search = text.trim();
  const toEmptyList = (): Destination[] => [];
  const range = { ...timeRange.peek(), ...projectScope.peek() };
  const ways = await Promise.all([
    canOpen('/services') && search !== ''
      ? request(services, { query: { ...range, search, limit: maxPerKind } }, signal).then(
          ({ items }) =>
            items.map(({ name }) => ({ kind: 'Service', name, url: toArea('/services', { service: name }) })),
          toEmptyList,
        )
      : [],
    canOpen('/dashboards')
      ? request(dashboards, { query: { search, limit: maxPerKind } }, signal).then(
          ({ items }) => items.map(({ id, name }) => ({ kind: 'Dashboard', name, url: toArea(`/dashboards/${id}`) })),
          toEmptyList,
        )
      : [],
    request(savedQueries, { query: { search, limit: maxPerKind } }, signal).then(
      ({ items }) =>
        items.flatMap((query) => {
          const link = getDataLink({ query: query.query as Query, from: query.from ?? '', to: query.to ?? '' });
          return link === undefined ? [] : [{ kind: 'Saved query', name: query.name, url: link[1] }];
        }),
      toEmptyList,
    ),
  ]);
  return ways.flat();
};

const findTrace = (text: string): Destination[] => {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) ? [{ kind: 'Trace', name: id, url: toArea(`/traces/${id}`) }] : [];
};

const findAreas = (areas: readonly Area[], text: string): Destination[] =>
  areas
    .filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase()))
    .map(({ title, path }) => ({ kind: 'Area', name: title, url: toArea(path) }));

export const Palette = ({ areas, onClose }: { readonly areas: readonly Area[]; readonly onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [searchResults, setSearchResults] = useState<readonly Destination[]>([]);
  const [activeIndex, setActiveIndex] = useState(0);
  const permittedAreas = areas.filter((area) => explainClosedArea(area) === '');
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const controller = new AbortController();
    const loadResults = async (): Promise<void> => {
      const ways = await searchDestinations(
        text,
        (path) => permittedAreas.some((area) => area.path === path),
        controller.signal,
      );
      if (!controller.signal.aborted) setSearchResults(ways);
    };
    const timer = setTimeout(() => void loadResults(), searchDelayMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  const ways = [...findTrace(text), ...findAreas(permittedAreas, text), ...searchResults];
  const openDestination = (way: Destination | undefined): void => {
    if (way === undefined) return;
    dialog.current?.close();
    navigate(way.url);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (event.key === 'Enter') openDestination(ways[activeIndex]);
    if (step === 0 && event.key !== 'Enter') return;
    event.preventDefault();
    if (ways.length > 0) setActiveIndex((activeIndex + step + ways.length) % ways.length);
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Search or jump to" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Area, service, dashboard, saved query or trace id"
        placeholder="Area, service, dashboard, saved query or trace id"
        autocomplete="off"
        spellcheck={false}
        aria-autocomplete="list"
        aria-expanded={ways.length > 0}
        aria-controls={ways.length > 0 ? 'ways' : undefined}
        aria-activedescendant={ways.length > 0 ? `way-${activeIndex}` : undefined}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setActiveIndex(0);
        }}
        onKeyDown={onKeyDown}
      />
      {ways.length === 0 ? (
        <p class="soft" role="status">
          No results.
        </p>
      ) : (
        <div role="listbox" id="ways" aria-label="Results">
          {ways.map((way, index) => (
            <div
              key={`${way.kind} ${way.url} ${way.name}`}
              id={`way-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === activeIndex}
              onPointerDown={(event) => {
                event.preventDefault();
                openDestination(way);
              }}
            >
              <bdi>{renderText(way.name)}</bdi> <span class="soft">{way.kind}</span>
            </div>
          ))}
        </div>
      )}
    </dialog>
  );
};
