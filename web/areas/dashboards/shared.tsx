/** Public view of a snapshot, opened by its link: works without a session and runs no queries */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { fragment } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { type Snapshot, sharedSnapshotCall } from './calls.ts';
import { gapPixels, rowHeightPixels } from './card.tsx';
import type { PanelData } from './fields.ts';
import { PanelView } from './panels/panel-view.tsx';

type SnapshotPanel = Snapshot['panels'][number];

const toPanelData = ({ title, visual, fields, results, earlier, tables }: SnapshotPanel): PanelData => ({
  title,
  visual: visual as PanelData['visual'],
  fields,
  overrides: [],
  legends: {},
  results,
  earlier,
  tables,
});

/** A panel of a snapshot. Its row is determined by the order, so repeated panels appear below the first one. */
const PanelCard = ({
  panel,
  range,
}: {
  readonly panel: SnapshotPanel;
  readonly range: { readonly from: number; readonly to: number };
}) => {
  const { x, width, height } = panel.place;
  const [panelData] = useState(() => toPanelData(panel));
  const [annotationTimes] = useState<readonly number[]>([]);
  return (
    <div class="cell" style={{ gridColumn: `${x + 1} / span ${width}`, gridRow: `span ${height}` }}>
      <section class="panel">
        <div class="panel-head">
          <h2>{renderText(panel.title || 'Panel')}</h2>
        </div>
        <ScrollRegion class="panel-body" label={`Content of ${panel.title || 'a panel'}`}>
          {panel.hasFailed ? <p class="problem-text">The query failed when the snapshot was created.</p> : null}
          <PanelView
            panel={panelData}
            {...range}
            annotationTimes={annotationTimes}
            cursorGroup="snapshot"
            isSnapshot={true}
            height={height * (rowHeightPixels + gapPixels) - 64}
          />
        </ScrollRegion>
      </section>
    </div>
  );
};

const SnapshotView = ({ snapshot }: { readonly snapshot: Snapshot }) => {
  const range = { from: Date.parse(snapshot.from), to: Date.parse(snapshot.to) };
  const sortedPanels = [...snapshot.panels].sort(
    (left, right) => left.place.y - right.place.y || left.place.x - right.place.x,
  );
  const sectionIndexes = [null, ...snapshot.sections.keys()];
  return (
    <>
      <p class="soft">
        Snapshot of {formatIsoMinute(snapshot.createdAt)}, from {formatMinute(range.from)} to {formatMinute(range.to)}.
        Expires at {formatIsoMinute(snapshot.expiresAt)}.
      </p>
      {sectionIndexes.map((sectionIndex) => {
        const sectionPanels = sortedPanels.filter((panel) => panel.section === sectionIndex);
        if (sectionPanels.length === 0) return null;
        return (
          <div key={sectionIndex}>
            {sectionIndex === null ? null : <h2>{renderText(snapshot.sections[sectionIndex]?.title ?? '')}</h2>}
            <div class="panels">
              {sectionPanels.map((panel, at) => (
                <PanelCard key={at} panel={panel} range={range} />
              ))}
            </div>
          </div>
        );
      })}
    </>
  );
};

export const SharedSnapshot = () => {
  const [query] = useState(() => new ApiQuery(sharedSnapshotCall));
  const token = fragment.value;
  useEffect(() => {
    if (token !== '') query.run({ params: { token } });
    return () => query.cancel();
  }, [token]);
  const { response, error, isLoading } = query.state.value;
  useEffect(() => {
    document.title = `${response?.name ?? 'Snapshot'} · OIQ`;
  }, [response]);
  return (
    <>
      <header>
        <span class="brand">OIQ</span>
        <h1>{renderText(response?.name ?? 'Snapshot')}</h1>
      </header>
      <main class="shared" id="content">
        <ErrorMessage error={error} />
        {isLoading ? <p class="said">Loading…</p> : null}
        {token === '' ? <p class="said">The link is incomplete: it must end with # and a token.</p> : null}
        {/* A failed link in an open tab shows no panels of the snapshot before it. */}
        {response === undefined || error !== undefined ? null : <SnapshotView snapshot={response} />}
      </main>
    </>
  );
};
