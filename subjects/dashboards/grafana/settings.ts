/** General settings of a dashboard: name, time and links, in both directions. */
import { isDeepStrictEqual } from 'node:util';
import { DurationText, TimeText } from '../../../queries/time-parameters.ts';
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { DashboardLink } from '../../../schemas/dashboards/links.ts';
import { DashboardFields } from '../document.ts';
import { refreshIntervals } from './defaults.ts';
import { type Ledger, toFieldsList } from './ledger.ts';

const cursors = ['none', 'line', 'line-and-tooltip'] as const;
const serverFieldMessage = 'is a counter of the source server, not part of the dashboard';
const formatFieldMessage = 'is the format version of the dashboard';
/** Settings that are dropped, with the reason: counters of the source server, and settings that Grafana ignores. */
const droppedSettings: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['id', 'version', 'iteration', 'gnetId', 'revision'].map((key) => [key, serverFieldMessage])),
  ...Object.fromEntries(
    ['schemaVersion', '__inputs', '__requires', '__elements'].map((key) => [key, formatFieldMessage]),
  ),
  ...Object.fromEntries(
    ['style', 'hideControls', 'sharedCrosshair', 'originalTitle'].map((key) => [
      key,
      'belongs to a discontinued version of Grafana',
    ]),
  ),
};

const readRange = (time: unknown, ledger: Ledger): Fields => {
  if (!isFields(time)) return {};
  const validKeys = ['from', 'to'].filter((key) => TimeText.safeParse(time[key]).success);
  ledger.carry(time, ...validKeys);
  return Object.fromEntries(validKeys.map((key) => [key, time[key]]));
};

const readRefresh = (dashboard: Fields, ledger: Ledger): Fields => {
  const { refresh } = dashboard;
  if (refresh === false) ledger.markDefault(dashboard, 'refresh');
  if (!DurationText.safeParse(refresh).success) return {};
  ledger.carry(dashboard, 'refresh');
  return { refresh };
};

const readZone = (dashboard: Fields, ledger: Ledger): Fields => {
  const { timezone } = dashboard;
  if (timezone === 'default') ledger.markDefault(dashboard, 'timezone');
  const zone = typeof timezone === 'string' && /^utc$/i.test(timezone) ? 'UTC' : timezone;
  if (typeof zone !== 'string' || !timeSchema.safeParse({ zone }).success) return {};
  ledger.carry(dashboard, 'timezone');
  return { zone };
};

const readPicker = (timepicker: unknown, ledger: Ledger): Fields => {
  if (!isFields(timepicker)) return {};
  if (isDeepStrictEqual(timepicker['refresh_intervals'], refreshIntervals))
    ledger.markDefault(timepicker, 'refresh_intervals');
  ledger.drop(timepicker, 'time_options', 'belongs to a discontinued version of Grafana');
  if (typeof timepicker['hidden'] === 'boolean') ledger.carry(timepicker, 'hidden');
  return timepicker['hidden'] === true ? { pickerHidden: true } : {};
};

const readTime = (dashboard: Fields, ledger: Ledger): Fields => {
  const { time, timepicker, weekStart } = dashboard;
  const isKnown = ['monday', 'saturday', 'sunday'].includes(String(weekStart));
  if (isKnown) ledger.carry(dashboard, 'weekStart');
  return {
    ...readRange(time, ledger),
    ...readRefresh(dashboard, ledger),
    ...readZone(dashboard, ledger),
    ...readPicker(timepicker, ledger),
    ...(isKnown && { weekStart }),
  };
};
const timeSchema = DashboardFields.shape.time;

const readLink = (link: Fields, ledger: Ledger): DashboardFields['links'][number] | undefined => {
  const { type, title, url, tooltip, icon, tags, asDropdown, keepTime, includeVars, targetBlank } = link;
  const sharedFields = {
    ...(typeof title === 'string' && { title }),
    keepTime: keepTime === true,
    keepVariables: includeVars === true,
    newTab: targetBlank === true,
  };
  const kindFields =
    type === 'dashboards'
      ? { kind: 'dashboards', tags: Array.isArray(tags) ? tags : [], asMenu: asDropdown === true }
      : { kind: 'address', url, tooltip: tooltip ?? '', icon: icon ?? '' };
  const parsed = DashboardLink.safeParse({ ...sharedFields, ...kindFields });
  if (!parsed.success) return undefined;
  ledger.carry(link, 'type', 'title', 'keepTime', 'includeVars', 'targetBlank');
  ledger.carry(link, ...(type === 'dashboards' ? ['tags', 'asDropdown'] : ['url', 'tooltip', 'icon']));
  if (type !== 'dashboards') ledger.markDefault(link, ...(asDropdown === false ? ['asDropdown'] : []));
  return parsed.data;
};

/** Converts everything except variables, panels and annotations. */
export const readSettings = (dashboard: Fields, ledger: Ledger): Fields => {
  for (const [key, reason] of Object.entries(droppedSettings))
    if (!isGrafanaDefault(dashboard, key)) ledger.drop(dashboard, key, reason);
  const { title, description, tags, graphTooltip } = dashboard;
  ledger.carry(dashboard, 'uid');
  const name = typeof title === 'string' && title.trim() !== '' ? title.slice(0, 256) : 'Imported dashboard';
  if (name === title) ledger.carry(dashboard, 'title');
  const descriptionText = typeof description === 'string' ? description.slice(0, 8192) : '';
  if (descriptionText === description) ledger.carry(dashboard, 'description');
  const validTags = (Array.isArray(tags) ? tags : [])
    .filter((tag) => typeof tag === 'string' && tag !== '' && tag.length <= 64)
    .slice(0, 32);
  if (Array.isArray(tags) && validTags.length === tags.length) ledger.carry(dashboard, 'tags');
  const cursor = cursors[Number(graphTooltip ?? 0)];
  if (cursor !== undefined) ledger.carry(dashboard, 'graphTooltip');
  const links = toFieldsList(dashboard['links'])
    .slice(0, 50)
    .flatMap((link) => readLink(link, ledger) ?? []);
  return {
    name,
    description: descriptionText,
    tags: validTags,
    time: readTime(dashboard, ledger),
    links,
    ...(cursor !== undefined && { cursor }),
  };
};
/** Returns whether a dropped setting has Grafana's default, so that its loss is not reported. */
const isGrafanaDefault = (dashboard: Fields, key: string): boolean =>
  (key === 'style' && dashboard[key] === 'dark') || dashboard[key] === false || dashboard[key] === null;

export const writeLink = (link: DashboardFields['links'][number]): Fields => {
  const sharedFields = {
    title: link.title,
    targetBlank: link.newTab,
    includeVars: link.keepVariables,
    keepTime: link.keepTime,
  };
  return link.kind === 'address'
    ? {
        ...sharedFields,
        type: 'link',
        url: link.url,
        icon: link.icon,
        tooltip: link.tooltip,
        tags: [],
        asDropdown: false,
      }
    : {
        ...sharedFields,
        type: 'dashboards',
        tags: link.tags,
        asDropdown: link.asMenu,
        icon: 'external link',
        tooltip: '',
      };
};

/** Converts the settings of a dashboard for Grafana. */
export const writeSettings = (document: DashboardFields): Record<string, unknown> => {
  const { name, description, tags, time, cursor, links } = document;
  return {
    title: name,
    tags,
    links: links.map(writeLink),
    ...(description !== '' && { description }),
    graphTooltip: cursors.indexOf(cursor),
    time: { from: time.from, to: time.to },
    timezone: time.zone === 'UTC' ? 'utc' : time.zone,
    ...(time.refresh !== null && { refresh: time.refresh }),
    ...(time.weekStart !== 'browser' && { weekStart: time.weekStart }),
    ...(time.pickerHidden && { timepicker: { hidden: true } }),
  };
};
