/** What a panel draws, by its kind. Kinds that the page draws in no form of their own are a table. */
import type { ComponentType } from 'preact';
import { later } from '../../../frame/later.tsx';
import { Markdown } from '../../../frame/markdown.tsx';
import { shownText } from '../../../frame/shown-text.tsx';
import { BarGaugePanel, BarsPanel, GaugePanel, PiePanel, StatPanel } from './figures.tsx';
import type { PanelProps } from './panel-props.ts';
import { LogsPanel, TablePanel } from './table.tsx';

const TextPanel = ({ drawn }: PanelProps) => {
  const { form, content = '' } = drawn.visual as { readonly form?: string; readonly content?: string };
  return form === 'code' ? <pre class="body">{shownText(content, { lines: true })}</pre> : <Markdown text={content} />;
};

const PlaceholderPanel = ({ drawn }: PanelProps) => {
  const { sourceType = '', why = '' } = drawn.visual as { readonly sourceType?: string; readonly why?: string };
  return (
    <p class="soft">
      This was a panel “{shownText(sourceType)}” where it came from. {shownText(why)}
    </p>
  );
};

const kinds: Readonly<Record<string, ComponentType<PanelProps>>> = {
  'time-series': later(async () => (await import('./series.tsx')).SeriesPanel),
  heatmap: later(async () => (await import('./cells.tsx')).HeatmapPanel),
  histogram: later(async () => (await import('./cells.tsx')).HistogramPanel),
  'state-timeline': later(async () => (await import('./states.tsx')).StateTimelinePanel),
  'status-history': later(async () => (await import('./states.tsx')).StatusHistoryPanel),
  stat: StatPanel,
  gauge: GaugePanel,
  'bar-gauge': BarGaugePanel,
  bars: BarsPanel,
  pie: PiePanel,
  logs: LogsPanel,
  text: TextPanel,
  placeholder: PlaceholderPanel,
};

/** Kinds that ask nothing. */
export const asksNothing = (kind: string): boolean => ['text', 'placeholder'].includes(kind);

export const DrawnPanel = (props: PanelProps) => {
  const View = kinds[props.drawn.visual.kind] ?? TablePanel;
  return <View {...props} />;
};
