/**
 * The classic Grafana dashboard as its typed SDK declares it, with specific types for each kind of panel in place of
 * `any`.
 */
import type * as barchart from '@grafana/grafana-foundation-sdk/barchart';
import type * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type * as common from '@grafana/grafana-foundation-sdk/common';
import type * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import type * as dashboardlist from '@grafana/grafana-foundation-sdk/dashboardlist';
import type * as expr from '@grafana/grafana-foundation-sdk/expr';
import type * as gauge from '@grafana/grafana-foundation-sdk/gauge';
import type * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import type * as histogram from '@grafana/grafana-foundation-sdk/histogram';
import type * as logs from '@grafana/grafana-foundation-sdk/logs';
import type * as nodegraph from '@grafana/grafana-foundation-sdk/nodegraph';
import type * as piechart from '@grafana/grafana-foundation-sdk/piechart';
import type * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import type * as stat from '@grafana/grafana-foundation-sdk/stat';
import type * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import type * as statushistory from '@grafana/grafana-foundation-sdk/statushistory';
import type * as table from '@grafana/grafana-foundation-sdk/table';
import type * as text from '@grafana/grafana-foundation-sdk/text';
import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

/** A type after JSON serialization: an enumeration becomes its values, and SDK methods are removed. */
type Json<T> = unknown extends T
  ? unknown
  : T extends string
    ? `${T}`
    : T extends number
      ? NumberOf<T>
      : T extends (infer Member)[]
        ? Json<Member>[]
        : T extends object
          ? { [Key in keyof T as Key extends `_implements${string}` ? never : Key]: Json<T[Key]> }
          : T;
type NumberOf<T extends number> = number extends T
  ? number
  : `${T}` extends `${infer Value extends number}`
    ? Value
    : never;

/** Options and field settings by panel type. */
interface Types {
  timeseries: [timeseries.Options, timeseries.FieldConfig];
  barchart: [barchart.Options, barchart.FieldConfig];
  bargauge: [bargauge.Options, object];
  dashlist: [dashboardlist.Options, object];
  gauge: [gauge.Options, object];
  heatmap: [heatmap.Options, heatmap.FieldConfig];
  histogram: [histogram.Options, histogram.FieldConfig];
  logs: [logs.Options, object];
  nodeGraph: [nodegraph.Options, object];
  piechart: [piechart.Options, common.HideableFieldConfig];
  stat: [stat.Options, object];
  'state-timeline': [statetimeline.Options, statetimeline.FieldConfig];
  'status-history': [statushistory.Options, statushistory.FieldConfig];
  table: [table.Options, table.FieldConfig];
  text: [text.Options, object];
}
/** Panel types whose options the SDK declares. */
export const typedPanels: Readonly<Record<keyof Types, true>> = {
  timeseries: true,
  barchart: true,
  bargauge: true,
  dashlist: true,
  gauge: true,
  heatmap: true,
  histogram: true,
  logs: true,
  nodeGraph: true,
  piechart: true,
  stat: true,
  'state-timeline': true,
  'status-history': true,
  table: true,
  text: true,
};
/** The prefix of other panel types in the type check: TypeScript cannot express "any text except these". */
export const otherType = 'other:';

type Target = prometheus.dataquery | expr.TypeMath;
type Panel<Type extends keyof Types> = Json<Omit<dashboard.Panel, 'type' | 'targets' | 'options' | 'fieldConfig'>> & {
  type: Type;
  targets?: Json<Target>[];
  options?: Json<Types[Type][0]>;
  fieldConfig?: Json<Omit<dashboard.FieldConfigSource, 'defaults'>> & {
    defaults: Json<Omit<dashboard.FieldConfig, 'custom'>> & { custom?: Json<Types[Type][1]> };
  };
};
type AnyPanel = { [Type in keyof Types]: Panel<Type> }[keyof Types];
type Other = Json<Omit<dashboard.Panel, 'type' | 'targets'>> & {
  type: `${typeof otherType}${string}`;
  targets?: Json<Target>[];
};
type Row = Json<Omit<dashboard.RowPanel, 'panels'>> & { panels: (AnyPanel | Other)[] };

export type TypedDashboard = Json<Omit<dashboard.Dashboard, 'panels'>> & { panels?: (AnyPanel | Other | Row)[] };
