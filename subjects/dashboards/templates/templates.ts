/** The gallery of built-in dashboard templates. Each is a YAML file in `files/`. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { parseYaml } from '../../../queries/yaml.ts';
import { parseDashboardValue } from '../as-code.ts';
import type { DashboardFields } from '../document.ts';
import { listPanelNeeds, type PanelNeeds } from './needs.ts';

/** A template from which dashboards are created. */
export interface Template {
  readonly id: string;
  /** Version of the content, which changes with it. */
  readonly version: string;
  /** Names of the programs that send the telemetry that it shows. */
  readonly sentBy: readonly string[];
  readonly document: DashboardFields;
  readonly panels: readonly PanelNeeds[];
}

const folder = join(import.meta.dirname, 'files');

const TemplateHeader = z.looseObject({ sentBy: z.array(z.string().min(1)).min(1) });

const parseTemplate = (text: string, file: string): Template => {
  const { sentBy, ...rest } = TemplateHeader.parse(parseYaml(text).value());
  const parsed = parseDashboardValue(rest);
  if ('problems' in parsed)
    throw new Error(`${file}: ${parsed.problems.map(({ path, message }) => `${path}: ${message}`)}`);
  const { id, document } = parsed;
  if (id === undefined || `${id}.yaml` !== file) throw new Error(`${file}: its id must be the name of the file`);
  const version = createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 12);
  return { id, version, sentBy, document, panels: listPanelNeeds(document) };
};

let templatesPromise: Promise<readonly Template[]> | undefined;

const readAllTemplates = async (): Promise<readonly Template[]> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml')).sort();
  const templates: Template[] = [];
  // One after the other: parsing all of them in one turn of the event loop would block other requests.
  for (const file of files) {
    templates.push(parseTemplate(await readFile(join(folder, file), 'utf8'), file));
    await yieldToEventLoop();
  }
  return templates;
};

/** Returns all templates by ID. They are read on first use. */
export const loadTemplates = (): Promise<readonly Template[]> => {
  templatesPromise ??= readAllTemplates();
  return templatesPromise;
};
