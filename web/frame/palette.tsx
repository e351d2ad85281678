/** Command palette: finds areas, services, dashboards, saved queries and traces by a part of their name or by id */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { listDashboards } from '../../api/groups/dashboards/list.ts';
import type { savedQueryResource } from '../../api/groups/saved-queries/saved-query.ts';
import type { listServices } from '../../api/groups/services/list.ts';
import type { Query } from '../../queries/query.ts';
import { callOf, listOf } from '../client/call.ts';
import { request } from '../client/request.ts';
import { go, toArea } from './address.ts';
import { type Area, explainClosedArea } from './area.ts';
import { projectScope } from './project.ts';
import { getDataLink } from './query-links.ts';
import { shownText } from './shown-text.tsx';
import { writtenRange } from './time-range.ts';

/** A navigation target */
interface Way {
  readonly kind: string;
  readonly name: string;
  readonly to: string;
}

const maxPerKind = 8;
const findAfterMs = 120;

const services = callOf<typeof listServices>('GET', '/api/services');
const dashboards = callOf<typeof listDashboards>('GET', '/api/dashboards');
const savedQueries = listOf<typeof savedQueryResource>('/api/saved-queries');

/** Returns the matches of the API; sources with an error are omitted. */
const found = async (text: string, open: (path: string) => boolean, signal: AbortSignal): Promise<Way[]> => {
  const search = text.trim();
  const none = (): Way[] => [];
  const range = { ...writtenRange.peek(), ...projectScope.peek() };
  const ways = await Promise.all([
    open('/services') && search !== ''
      ? request(services, { query: { ...range, search, limit: maxPerKind } }, signal).then(
          ({ items }) =>
            items.map(({ name }) => ({ kind: 'Service', name, to: toArea('/services', { service: name }) })),
          none,
        )
      : [],
    open('/dashboards')
      ? request(dashboards, { query: { search, limit: maxPerKind } }, signal).then(
          ({ items }) => items.map(({ id, name }) => ({ kind: 'Dashboard', name, to: toArea(`/dashboards/${id}`) })),
          none,
        )
      : [],
    request(savedQueries, { query: { search, limit: maxPerKind } }, signal).then(
      ({ items }) =>
        items.flatMap((query) => {
          const link = getDataLink({ query: query.query as Query, from: query.from ?? '', to: query.to ?? '' });
          return link === undefined ? [] : [{ kind: 'Saved query', name: query.name, to: link[1] }];
        }),
      none,
    ),
  ]);
  return ways.flat();
};

const traceIn = (text: string): Way[] => {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f]{32}$/.test(id) ? [{ kind: 'Trace', name: id, to: toArea(`/traces/${id}`) }] : [];
};

const areasIn = (areas: readonly Area[], text: string): Way[] =>
  areas
    .filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase()))
    .map(({ title, path }) => ({ kind: 'Area', name: title, to: toArea(path) }));

export const Palette = ({ areas, onClose }: { readonly areas: readonly Area[]; readonly onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [foundWays, setFoundWays] = useState<readonly Way[]>([]);
  const [active, setActive] = useState(0);
  const mayOpen = areas.filter((area) => explainClosedArea(area) === '');
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const cancel = new AbortController();
    const find = async (): Promise<void> => {
      const ways = await found(text, (path) => mayOpen.some((area) => area.path === path), cancel.signal);
      if (!cancel.signal.aborted) setFoundWays(ways);
    };
    const timer = setTimeout(() => void find(), findAfterMs);
    return () => {
      clearTimeout(timer);
      cancel.abort();
    };
  }, [text]);
  const ways = [...traceIn(text), ...areasIn(mayOpen, text), ...foundWays];
  const openWay = (way: Way | undefined): void => {
    if (way === undefined) return;
    dialog.current?.close();
    go(way.to);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (event.key === 'Enter') openWay(ways[active]);
    if (step === 0 && event.key !== 'Enter') return;
    event.preventDefault();
    if (ways.length > 0) setActive((active + step + ways.length) % ways.length);
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
        aria-activedescendant={ways.length > 0 ? `way-${active}` : undefined}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setActive(0);
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
              key={`${way.kind} ${way.to} ${way.name}`}
              id={`way-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              onPointerDown={(event) => {
                event.preventDefault();
                openWay(way);
              }}
            >
              <bdi>{shownText(way.name)}</bdi> <span class="soft">{way.kind}</span>
            </div>
          ))}
        </div>
      )}
    </dialog>
  );
};
