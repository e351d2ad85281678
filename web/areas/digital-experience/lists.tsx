/** Lists of pages, resources and errors of browsers */
import { formatNumber, formatQuantity } from '../../charts/values.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond, formatIsoTime } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { RawText } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { StackFrames } from '../../lists/stack-frames.tsx';
import { pagesCall, type RumError, type RumPage, resourcesCall, rumErrorsCall } from './calls.ts';
import { areaPath, BadCount, formatMs, SessionLink } from './session-format.tsx';

const filters = ['application', 'page', 'release', 'device', 'browser', 'country'] as const;

const phaseTitles: Readonly<Record<RumPage['phases'][number]['phase'], string>> = {
  redirect: 'Redirect',
  dns: 'DNS',
  connect: 'Connect',
  tls: 'TLS',
  waiting: 'Waiting (TTFB)',
  download: 'Download',
  domInteractive: 'DOM interactive',
  domContentLoaded: 'DOM content loaded',
  domComplete: 'DOM complete',
  load: 'Load',
};

const findPhase = ({ phases }: RumPage, name: string): number | null =>
  phases.find(({ phase }) => phase === name)?.p75 ?? null;

const LoadPhases = ({ phases, loads }: Pick<RumPage, 'phases' | 'loads'>) => {
  const longest = Math.max(1, ...phases.map(({ p75 }) => p75));
  return (
    <section aria-label="Loading">
      <h3>Loading</h3>
      <p class="soft">
        75th percentile of {formatNumber(loads)} documents. From DOM interactive on, since the navigation.
      </p>
      <dl class="bar-list">
        {phases.map(({ phase, p75 }) => (
          <div key={phase}>
            <dt>{phaseTitles[phase]}</dt>
            <dd>
              <span class="track">
                <span class="bar" style={{ width: `${((100 * p75) / longest).toFixed(1)}%` }} />
              </span>
              <b>{formatMs(p75)}</b>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
};

export const Pages = createListView({
  title: 'Pages',
  call: pagesCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'browser:Firefox',
  filters,
  choices: [
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-views', 'Views'],
        ['-sessions', 'Sessions'],
        ['-exits', 'Exits'],
        ['-errors', 'Errors'],
        ['-frustrations', 'Frustrations'],
        ['page', 'Page'],
      ],
    },
  ],
  emptyText: 'No pages in this range.',
  toKey: ({ application, page }) => `${application} ${page}`,
  columns: {
    Page: ({ page }) => page,
    Application: ({ application }) => application,
    Views: ({ views }) => formatNumber(views),
    Sessions: ({ sessions }) => formatNumber(sessions),
    Exits: ({ exits }) => formatNumber(exits),
    Errors: ({ errors }) => <BadCount count={errors} />,
    Frustrations: ({ frustrations }) => <BadCount count={frustrations} />,
    'Load p75': (page) => formatMs(findPhase(page, 'load')),
  },
  wideColumns: ['Application', 'Sessions', 'Exits', 'Frustrations'],
  numericColumns: ['Views', 'Sessions', 'Exits', 'Errors', 'Frustrations', 'Load p75'],
  ItemPanel: ({ item, onClose }) => (
    <SidePanel label="Page" title={item?.page ?? 'Page'} onClose={onClose}>
      {item === undefined ? (
        <p class="soft">This page has no views in this range.</p>
      ) : (
        <>
          <ul class="links">
            {(
              [
                ['sessions', 'Sessions'],
                ['web-vitals', 'Web vitals'],
                ['errors', 'Errors'],
              ] as const
            ).map(([tab, title]) => (
              <li key={tab}>
                <Link url={toArea(`${areaPath}/${tab}`, { application: item.application, page: item.page })}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
          {item.phases.length === 0 ? (
            <p class="soft">No timing of documents in this range.</p>
          ) : (
            <LoadPhases phases={item.phases} loads={item.loads} />
          )}
        </>
      )}
    </SidePanel>
  ),
});

const partyTitles = { first: 'First party', third: 'Third party' } as const;

export const Resources = createListView({
  title: 'Resources',
  call: resourcesCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'resourceType:script',
  filters,
  choices: [
    {
      name: 'groupBy',
      label: 'Group by',
      options: [
        ['host', 'Host'],
        ['type', 'Type'],
        ['party', 'Party'],
        ['url', 'URL'],
      ],
    },
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-count', 'Count'],
        ['-p75', 'Duration'],
        ['-changePercent', 'Became slower'],
        ['-bytes', 'Size'],
        ['-failures', 'Failures'],
        ['-blockingMs', 'Blocking time'],
      ],
    },
  ],
  emptyText: 'No resources in this range.',
  toKey: ({ value }) => value,
  columns: {
    Resource: ({ value }) => (value === '' ? 'unknown' : value),
    Party: ({ party }) => (party === null ? '–' : partyTitles[party]),
    Types: ({ types }) => types.join(', '),
    Count: ({ count }) => formatNumber(count),
    p75: ({ p75 }) => formatMs(p75),
    Change: ({ changePercent }) =>
      changePercent === null ? (
        '–'
      ) : (
        <span class={changePercent > 10 ? 'text-error' : ''}>
          {changePercent > 0 ? '+' : ''}
          {formatQuantity(changePercent, '%')}
        </span>
      ),
    Size: ({ bytes }) => formatQuantity(bytes, 'By'),
    'Cache hits': ({ cacheHits, cacheKnown }) =>
      cacheKnown === 0 ? '–' : formatQuantity((100 * cacheHits) / cacheKnown, '%'),
    Failures: ({ failures }) => <BadCount count={failures} />,
    Blocking: ({ blockingMs, blocking }) => (blocking === 0 ? '–' : formatMs(blockingMs)),
  },
  wideColumns: ['Party', 'Types', 'Change', 'Size', 'Cache hits', 'Blocking'],
  numericColumns: ['Count', 'p75', 'Change', 'Size', 'Cache hits', 'Failures', 'Blocking'],
});

const LastError = ({
  error: { last, fingerprint, pages, browsers, releases, replaySessionId },
}: {
  readonly error: RumError;
}) => (
  <>
    <ul class="links">
      <li>
        <Link url={toArea('/errors', { error: fingerprint })}>Error group</Link>
      </li>
      <li>
        <Link url={toArea(`${areaPath}/sessions`, { search: `fingerprint:"${fingerprint}"` })}>Sessions</Link>
      </li>
      {last.sessionId === null ? null : (
        <li>
          <SessionLink id={last.sessionId}>Last session</SessionLink>
        </li>
      )}
      {replaySessionId === null ? null : (
        <li>
          <SessionLink id={replaySessionId}>Session with replay</SessionLink>
        </li>
      )}
      {last.traceId === null ? null : (
        <li>
          <Link url={toArea(`/traces/${last.traceId}`)}>Trace</Link>
        </li>
      )}
    </ul>
    <Fields
      values={{
        'Last seen': formatIsoTime(last.timestamp),
        Page: last.page ?? '',
        URL: last.url ?? '',
        Release: last.release ?? '',
        Pages: pages.join(', '),
        Browsers: browsers.join(', '),
        Releases: releases.join(', '),
      }}
    />
    <h3>Stack trace</h3>
    {last.stack === null ? (
      <p class="soft">The browser recorded no stack trace.</p>
    ) : last.frames.length === 0 ? (
      <RawText label="Stack trace" text={last.stack} />
    ) : (
      <>
        <StackFrames frames={last.frames} />
        <details>
          <summary>Original stack trace</summary>
          <RawText label="Original stack trace" text={last.stack} />
        </details>
      </>
    )}
  </>
);

export const BrowserErrors = createListView({
  title: 'Browser errors',
  call: rumErrorsCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'browser:Firefox',
  filters,
  choices: [
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-count', 'Events'],
        ['-sessions', 'Sessions'],
        ['-users', 'Users'],
        ['-lastSeen', 'Last seen'],
        ['-firstSeen', 'First seen'],
      ],
    },
  ],
  emptyText: 'No browser errors in this range.',
  toKey: ({ fingerprint }) => fingerprint,
  columns: {
    Error: ({ type, message }) => [type, message].filter(Boolean).join(': '),
    Application: ({ applications }) => applications.join(', '),
    Events: ({ count }) => formatNumber(count),
    Unhandled: ({ unhandled }) => formatNumber(unhandled),
    Sessions: ({ sessions }) => formatNumber(sessions),
    Users: ({ users }) => formatNumber(users),
    'Last seen': ({ lastSeen }) => formatIsoSecond(lastSeen),
  },
  wideColumns: ['Application', 'Unhandled', 'Users', 'Last seen'],
  numericColumns: ['Events', 'Unhandled', 'Sessions', 'Users'],
  ItemPanel: ({ item, onClose }) => (
    <SidePanel label="Browser error" title={item?.type ?? 'Error'} onClose={onClose}>
      {item === undefined ? (
        <p class="soft">This error did not occur in this range.</p>
      ) : (
        <>
          <p>
            <bdi>{renderText(item.message)}</bdi>
          </p>
          <LastError error={item} />
        </>
      )}
    </SidePanel>
  ),
});
