/** Detects the form of a document and unwraps its envelope. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { Ledger } from './ledger.ts';

/** A Grafana dashboard without its envelope. */
export interface UnwrappedDashboard {
  /** Format such as `grafana 39` and `dashboard.grafana.app/v2`. */
  readonly from: string;
  readonly form: 'classic' | 'resource';
  readonly dashboard: Fields;
  /** Path in the document. */
  readonly path: string;
  readonly uid: string | undefined;
}

const serverMetadataMessage = 'is server metadata, not part of the dashboard';

/** Reports the fields of an envelope as dropped, except the one with the dashboard. */
const dropEnvelope = (holder: Fields, exceptKey: string, ledger: Ledger): void => {
  for (const key of Object.keys(holder)) if (key !== exceptKey) ledger.drop(holder, key, serverMetadataMessage);
};

const toUid = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const isResourceSpec = (value: Fields): boolean => isFields(value['elements']) && isFields(value['layout']);
const isClassic = (value: Fields): boolean =>
  ['panels', 'rows', 'schemaVersion', 'templating', 'annotations'].some((key) => Object.hasOwn(value, key));

/** Unwraps a Grafana document; undefined for other documents. */
export const unwrapDashboard = (body: Fields, ledger: Ledger, path = ''): UnwrappedDashboard | undefined => {
  const { apiVersion, metadata, spec, dashboard } = body;
  const toPath = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (typeof apiVersion === 'string' && apiVersion.startsWith('dashboard.grafana.app/') && isFields(spec)) {
    dropEnvelope(body, 'spec', ledger);
    const name = isFields(metadata) ? toUid(metadata['name']) : undefined;
    if (isResourceSpec(spec))
      return { from: apiVersion, form: 'resource', dashboard: spec, path: toPath('spec'), uid: name };
    return {
      from: apiVersion,
      form: 'classic',
      dashboard: spec,
      path: toPath('spec'),
      uid: name ?? toUid(spec['uid']),
    };
  }
  if (isFields(dashboard) && path === '') {
    const unwrapped = unwrapDashboard(dashboard, ledger, 'dashboard');
    if (unwrapped !== undefined) dropEnvelope(body, 'dashboard', ledger);
    return unwrapped;
  }
  if (isResourceSpec(body))
    return { from: 'dashboard.grafana.app', form: 'resource', dashboard: body, path, uid: undefined };
  if (!isClassic(body) || Object.hasOwn(body, 'name')) return undefined;
  return {
    from: `grafana ${String(body['schemaVersion'] ?? '')}`.trim(),
    form: 'classic',
    dashboard: body,
    path,
    uid: toUid(body['uid']),
  };
};
