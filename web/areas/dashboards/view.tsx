/** One dashboard: its variables, its panels, and its actions */

import { GitCompareArrows } from 'lucide';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { useDefaultRefresh } from '../../frame/auto-refresh.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { Link } from '../../frame/link.tsx';
import { Markdown } from '../../frame/markdown.tsx';
import { isPermitted } from '../../frame/rights.ts';
import {
  comparesPrevious,
  refreshCount,
  setComparesPrevious,
  type TimeRange,
  timeRange,
  toMilliseconds,
  useDefaultRange,
} from '../../frame/time-range.ts';
import { DashboardResults } from './board.ts';
import { type Dashboard, type Document, getDashboardCall, replaceDashboardCall, toDocument } from './calls.ts';
import { PanelCard } from './card.tsx';
import { DashboardDraft, saveCount } from './editing/draft.ts';
import { layOutSections } from './layout.ts';
import { SectionView } from './parts.tsx';
import { isSafeUrl } from './safe-url.ts';
import { readSelectionFromUrl } from './variable-values.ts';
import { Variables } from './variables.tsx';

const Editing = lazyLoad(async () => (await import('./editing/editing.tsx')).DashboardEditor);
const Versions = lazyLoad(async () => (await import('./versions.tsx')).Versions);
const Snapshots = lazyLoad(async () => (await import('./snapshots.tsx')).Snapshots);

const exportFormats = [
  ['oiq', 'JSON'],
  ['yaml', 'YAML'],
  ['grafana', 'Grafana'],
] as const;

/** Everything that takes the dashboard to others: its address, a public snapshot, and files. */
const ShareMenu = ({ id }: { readonly id: string }) => (
  <details class="menu">
    <summary>Share</summary>
    <div class="popup">
      <CopyButton text={location.href} label="Copy link" />
      <button type="button" class="plain" onClick={() => setParams({ show: 'snapshots' })}>
        Public snapshot
      </button>
      {exportFormats.map(([format, title]) => (
        <a key={format} href={`/api/dashboards/${encodeURIComponent(id)}/export?format=${format}`} download>
          Export {title}
        </a>
      ))}
    </div>
  </details>
);

const sidePanels = ['versions', 'snapshots'] as const;

const Toolbar = ({ dashboard, isEditing }: { readonly dashboard: Dashboard; readonly isEditing: boolean }) => (
  <>
    {isEditing ? null : (
      <Button
        icon={GitCompareArrows}
        aria-pressed={comparesPrevious.value}
        onClick={() => setComparesPrevious(!comparesPrevious.value)}
      >
        Compare
      </Button>
    )}
    {isPermitted(replaceDashboardCall) && !isEditing ? (
      <button type="button" onClick={() => setParams({ edit: 'true', show: '' })}>
        Edit
      </button>
    ) : null}
    <button
      type="button"
      class="plain"
      aria-pressed={readParam('show') === 'versions'}
      onClick={() => setParams({ show: readParam('show') === 'versions' ? '' : 'versions' })}
    >
      Versions
    </button>
    <ShareMenu id={dashboard.id} />
  </>
);

const DashboardLinks = ({ links }: { readonly links: Document['links'] }) => {
  const safeLinks = links.flatMap((link) => (link.kind === 'address' && isSafeUrl(link.url) ? [link] : []));
  return safeLinks.length === 0 ? null : (
    <ul class="links">
      {safeLinks.map(({ url, title, tooltip }) => (
        <li key={`${url} ${title}`}>
          <a href={url} title={tooltip} rel="noreferrer">
            {renderText(title === '' ? url : title)}
          </a>
        </li>
      ))}
    </ul>
  );
};

/** Returns a document whose panels of series compare the range with the period of the same length before it. */
const comparePanels = (document: Document, { from, to }: TimeRange): Document => {
  const seconds = Math.round(((toMilliseconds(to, 'end') ?? 0) - (toMilliseconds(from) ?? 0)) / 1_000);
  if (seconds < 1) return document;
  return {
    ...document,
    panels: document.panels.map((panel) =>
      panel.visual.kind === 'time-series' && panel.time.compareWith === undefined
        ? { ...panel, time: { ...panel.time, compareWith: `${seconds}s` } }
        : panel,
    ),
  };
};

interface DashboardContentProps {
  /** Document to show: the dashboard or its draft */
  readonly document: Document;
  readonly dashboard: Dashboard;
  readonly board: DashboardResults;
  readonly dashboardDraft: DashboardDraft;
  /** Draft in edit mode; `undefined` in view mode */
  readonly draft: Document | undefined;
  readonly variables: Readonly<Record<string, string[]>>;
}

/** The panels, and the open side panel. */
const DashboardContent = ({ document, dashboard, board, dashboardDraft, draft, variables }: DashboardContentProps) => {
  const { from, to } = timeRange.value;
  const head = board.context.value;
  const annotationTimes = useMemo(
    () => board.annotations.value.flatMap((annotation) => annotation.marks.map(({ time }) => Date.parse(time))),
    [board.annotations.value],
  );
  const range = { from: toMilliseconds(head?.from ?? from) ?? 0, to: toMilliseconds(head?.to ?? to) ?? 0 };
  const rootSection = useMemo(() => layOutSections(document, head), [document, head]);
  if (draft !== undefined)
    return (
      <Editing
        dashboardDraft={dashboardDraft}
        dashboard={dashboard}
        board={board}
        head={head}
        range={range}
        annotationTimes={annotationTimes}
        section={rootSection}
      />
    );
  const openSidePanel = sidePanels.find((name) => name === readParam('show'));
  return (
    <div class={openSidePanel === undefined ? 'list' : 'list with-record'}>
      <div class="scrolled" id="panels">
        {document.panels.length === 0 ? <p class="said">No panels yet.</p> : null}
        <SectionView
          section={rootSection}
          head={head}
          renderCell={(cell) => (
            <PanelCard cell={cell} board={board} head={head} {...range} annotationTimes={annotationTimes} />
          )}
        />
      </div>
      {openSidePanel === 'versions' ? <Versions dashboard={dashboard} /> : null}
      {openSidePanel === 'snapshots' ? <Snapshots dashboard={dashboard} variables={variables} /> : null}
    </div>
  );
};

const LoadedDashboard = ({ dashboard }: { readonly dashboard: Dashboard }) => {
  const [board] = useState(() => new DashboardResults());
  const [dashboardDraft] = useState(() => new DashboardDraft());
  const isEditing = readParam('edit') === 'true' && isPermitted(replaceDashboardCall);
  useEffect(() => {
    if (isEditing) dashboardDraft.startEditing(dashboard);
    else dashboardDraft.stopEditing();
  }, [isEditing, dashboard]);
  const draft = isEditing ? dashboardDraft.draft.value : undefined;
  useDefaultRange(dashboard.time.from, dashboard.time.to);
  useDefaultRefresh(isEditing ? '' : (dashboard.time.refresh ?? ''));
  const { from, to } = timeRange.value;
  const isCompared = comparesPrevious.value && draft === undefined;
  const document = useMemo(
    () => draft ?? (isCompared ? comparePanels(toDocument(dashboard), { from, to }) : dashboard),
    [draft, dashboard, isCompared, from, to],
  );
  const queriedDraft = draft ?? (isCompared ? document : undefined);
  const variables = readSelectionFromUrl(document.variables);
  const variablesKey = JSON.stringify(variables);
  useEffect(() => {
    board.run({
      id: dashboard.id,
      from,
      to,
      variables,
      ...(queriedDraft === undefined ? {} : { draft: queriedDraft }),
    });
    return () => board.cancel();
  }, [dashboard, from, to, variablesKey, queriedDraft, refreshCount.value]);
  const head = board.context.value;
  return (
    <>
      <div class="toolbar">
        <Link url={toArea('/dashboards')}>Dashboards</Link>
        <b>
          <bdi>{renderText(document.name)}</bdi>
        </b>
        {head === undefined ? null : <Variables variables={document.variables} head={head} />}
        <Toolbar dashboard={dashboard} isEditing={isEditing} />
      </div>
      <DashboardLinks links={document.links} />
      {dashboard.description === '' ? null : (
        <details>
          <summary>About this dashboard</summary>
          <Markdown text={dashboard.description} />
        </details>
      )}
      <ErrorMessage error={board.state.value.error} />
      <DashboardContent
        document={document}
        dashboard={dashboard}
        board={board}
        dashboardDraft={dashboardDraft}
        draft={draft}
        variables={variables}
      />
      <Freshness queryState={board.state.value} />
    </>
  );
};

export const DashboardView = ({ id }: { readonly id: string }) => {
  const [query] = useState(() => new ApiQuery(getDashboardCall));
  useEffect(() => {
    query.clear();
    query.run({ params: { id }, query: { countView: 'true' } });
    return () => query.cancel();
  }, [id, saveCount.value]);
  const { response, error, isLoading } = query.state.value;
  if (response === undefined)
    return error === undefined ? <p class="said">{isLoading ? 'Loading…' : ''}</p> : <ErrorMessage error={error} />;
  return <LoadedDashboard key={`${response.id} ${response.version}`} dashboard={response} />;
};
