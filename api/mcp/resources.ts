/** Resources of the MCP server: what a client reads once before it uses the tools. */
import { readFile } from 'node:fs/promises';
import type { Json } from './tool.ts';

export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
  /** Operation with the content; the resource is listed for callers of it. */
  readonly operation?: { readonly operationId: string; readonly query: Json };
  /** Content for every caller */
  readonly read?: () => Promise<string>;
}

const searchLanguageFile = new URL('../../docs/reference/search-language.md', import.meta.url);

export const resources: readonly McpResource[] = [
  {
    uri: 'oiq://search-language',
    name: 'Search language',
    description: 'The parameter search of logs, traces and errors, with examples',
    mimeType: 'text/markdown',
    read: () => readFile(searchLanguageFile, 'utf8'),
  },
  {
    uri: 'oiq://fields/logs',
    name: 'Fields of logs',
    description: 'Fields that searches of logs can name, with types',
    mimeType: 'application/json',
    operation: { operationId: 'listLogFields', query: { scope: 'account', limit: '200' } },
  },
  {
    uri: 'oiq://fields/traces',
    name: 'Fields of spans',
    description: 'Fields that searches of traces can name, with types',
    mimeType: 'application/json',
    operation: { operationId: 'listTraceFields', query: { scope: 'account', limit: '200' } },
  },
  {
    uri: 'oiq://dashboards',
    name: 'Dashboards',
    description: 'All dashboards with name, folder and tags',
    mimeType: 'application/json',
    operation: { operationId: 'listDashboards', query: { limit: '200' } },
  },
];

/** Prefix of the resource of one dashboard */
export const dashboardUriPrefix = 'oiq://dashboards/';
