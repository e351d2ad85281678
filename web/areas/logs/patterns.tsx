/** Log patterns with their frequency; marks patterns that are new, gone or spiking compared with the previous period */
import { useEffect, useState } from 'preact/hooks';
import { Paged } from '../../client/pages.ts';
import { ApiQuery } from '../../client/query.ts';
import { QueryLinks } from '../../editors/put-on-dashboard.tsx';
import { change, inAddress, toArea } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Found } from '../../lists/empty-state.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { comparePatternsCall, type Pattern, patternCall, patternsCall } from './calls.ts';

const patternPages = new Paged(patternsCall, ({ items }) => items);
const disappearedQuery = new ApiQuery(comparePatternsCall);

const number = new Intl.NumberFormat('en');
const formatPercent = (share: number): string => `${Number((share * 100).toPrecision(2))} %`;

const openPatternId = (): string => inAddress('shown');
const openPatternById = (id: string): void => change({ shown: id }, { replace: openPatternId() !== '' });

const describeChange = ({ isNew, isGone, isSpiking }: Pattern): string =>
  [isNew === true ? 'new' : '', isGone === true ? 'gone' : '', isSpiking === true ? 'Increased' : '']
    .filter((word) => word !== '')
    .join(', ');

/** Counts over time as bars; the adjacent number provides the text alternative. */
const Trend = ({ counts }: { readonly counts: readonly number[] }) => {
  const maxCount = Math.max(1, ...counts);
  return (
    <svg class="trend" viewBox={`0 0 ${counts.length} 16`} preserveAspectRatio="none" aria-hidden="true">
      {counts.map((count, index) => (
        <rect
          key={index}
          x={index + 0.1}
          width={0.8}
          y={16 - (count / maxCount) * 16}
          height={(count / maxCount) * 16}
        />
      ))}
    </svg>
  );
};

const templateText = (template: string | null): string => template ?? 'pending';

const renderCells = (pattern: Pattern) => [
  number.format(pattern.count),
  formatPercent(pattern.share),
  <Trend key="trend" counts={pattern.trend.counts} />,
  <b key="verdict" class={pattern.isSpiking === true || pattern.isGone === true ? 'text-error' : 'text-warn'}>
    {describeChange(pattern)}
  </b>,
  <bdi key="services">{shownText(pattern.services.join(', '))}</bdi>,
  <bdi key="template">{shownText(templateText(pattern.template))}</bdi>,
];

/** Returns the query that counts the records of a pattern. */
const toCountQuery = (id: string) => ({
  kind: 'aggregate' as const,
  signal: 'log-patterns' as const,
  search: `pattern:${id}`,
  measures: [{ function: 'count' as const }],
});

const PatternPanel = ({ id }: { readonly id: string }) => {
  const [query] = useState(() => new ApiQuery(patternCall));
  const { from, to } = writtenRange.value;
  useEffect(() => {
    query.run({ params: { id }, query: { from, to, ...projectScope.value } });
    return () => query.cancel();
  }, [id, from, to, projectScope.value]);
  const { answer: pattern, error } = query.state.value;
  return (
    <SidePanel label="Pattern" title="Pattern" onClose={() => openPatternById('')}>
      <Problem error={error} />
      {pattern === undefined ? null : (
        <>
          <p class="body">{shownText(templateText(pattern.template), { lines: true })}</p>
          <ul class="links">
            <li>
              <Link to={toArea('/logs', { pattern: pattern.id })}>View records</Link>
            </li>
            <li>
              <QueryLinks query={toCountQuery(pattern.id)} title={templateText(pattern.template).slice(0, 100)} />
            </li>
          </ul>
          <Fields
            values={{
              records: number.format(pattern.count),
              share: formatPercent(pattern.share),
              'first seen': shownMoment(pattern.firstSeen),
              'last seen': shownMoment(pattern.lastSeen),
              change: describeChange(pattern),
              services: pattern.services.join(', '),
              ...pattern.severities,
            }}
          />
          {pattern.parameters.map(({ name, top, distinct }) => (
            <section key={name}>
              <h3>
                Variable {shownText(name)}, {distinct.isEstimate ? 'about ' : ''}
                {number.format(distinct.count)} values
              </h3>
              <Fields
                values={Object.fromEntries(top.map(({ value, minCount: atLeast }) => [value, `${atLeast} or more`]))}
              />
            </section>
          ))}
        </>
      )}
    </SidePanel>
  );
};

/** Patterns of the preceding range of equal length that no longer occur. */
const DisappearedPatterns = () => {
  const { answer, error } = disappearedQuery.state.value;
  if (answer === undefined || answer.items.length === 0) return <Problem error={error} />;
  return (
    <details class="attention">
      <summary>{answer.items.length} patterns of the previous period no longer occur</summary>
      <ul>
        {answer.items.map(({ id, template, baseline }) => (
          <li key={id}>
            <Link to={toArea('/logs', { view: 'patterns', shown: id })}>{shownText(templateText(template))}</Link>,
            before {number.format(baseline.count)}
          </li>
        ))}
      </ul>
    </details>
  );
};

const kinds = { '': 'all', new: 'new', gone: 'gone', spiking: 'Increased' } as const;
type Kind = Exclude<keyof typeof kinds, ''>;
const parseChangeFilter = (text: string): Kind | undefined =>
  text === 'new' || text === 'gone' || text === 'spiking' ? text : undefined;

export const Patterns = () => {
  const { from, to } = writtenRange.value;
  const [words, only] = [inAddress('words'), inAddress('only')];
  useEffect(() => {
    const scope = { from, to, ...projectScope.value };
    patternPages.load({ query: { ...scope, search: words || undefined, only: parseChangeFilter(only), limit: 100 } });
    disappearedQuery.run({ query: { ...scope, change: 'gone', limit: 20 } });
    return () => {
      patternPages.cancel();
      disappearedQuery.cancel();
    };
  }, [from, to, words, only, projectScope.value, refreshes.value]);
  const { error } = patternPages.first.state.value;
  const id = openPatternId();
  return (
    <>
      <Search
        key={words}
        label="Search patterns"
        placeholder="declined card"
        value={words}
        problem={error?.of('search')}
        onSearch={(text) => change({ words: text.trim(), shown: '' })}
      />
      <div class="toolbar">
        <label>
          Status{' '}
          <select value={only} onChange={({ currentTarget }) => change({ only: currentTarget.value, shown: '' })}>
            {Object.entries(kinds).map(([kind, title]) => (
              <option key={kind} value={kind}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Problem error={error?.of('search') === undefined ? error : undefined} />
      <DisappearedPatterns />
      <div class={id === '' ? 'list' : 'list with-record'}>
        <Found
          of={patternPages}
          nothing="No patterns in this range."
          label="Patterns"
          class="patterns"
          columns={['Records', 'Share', 'Trend', 'Change', 'Services', 'Pattern']}
          keyOf={(pattern) => pattern.id}
          cellsOf={renderCells}
          open={id}
          onOpen={openPatternById}
        />
        {id === '' ? null : <PatternPanel key={id} id={id} />}
      </div>
      <Problem error={patternPages.furtherError.value} />
      <Freshness of={patternPages.first.state.value} />
    </>
  );
};
