/** Source maps of JavaScript bundles, by which stacks of browsers are mapped to source files. */
import { defineCollection } from '../ports/documents.ts';

/** Description of a source map; its parts have the content. */
export interface SourceMap {
  /** `service.name` of the pages that load the bundle */
  readonly application: string;
  /** `service.version` of these pages; empty for maps that only their ids identify */
  readonly release: string;
  /** Path of the bundle, as in `assets/app.js` */
  readonly file: string;
  /** Last segment of the path */
  readonly baseName: string;
  /** Debug id (ECMA-426), in lower case; empty without one */
  readonly debugId: string;
  /** Bundle id of Grafana Faro; empty without one */
  readonly bundleId: string;
  /** SHA-256 of the stored content */
  readonly contentHash: string;
  /** Source files that the map names */
  readonly sources: number;
  /** Size of the map as sent */
  readonly bytes: number;
  /** Size of the stored content, compressed and in base64 */
  readonly storedBytes: number;
  readonly parts: number;
  /** Id of a user or service account */
  readonly uploadedBy: string;
}

export const sourceMaps = defineCollection<SourceMap>({
  name: 'source-maps',
  unique: [['application', 'release', 'bundleId', 'file']],
  indexes: [
    ['application', 'release', 'baseName'],
    ['application', 'debugId'],
    ['application', 'bundleId'],
    ['createdAt'],
  ],
});

/** A part of the compressed content. Its id consists of the map's id and the number of the part. Immutable. */
export interface SourceMapPart {
  readonly mapId: string;
  readonly part: number;
  /** Base64 */
  readonly content: string;
}

export const sourceMapParts = defineCollection<SourceMapPart>({ name: 'source-map-parts', indexes: [['mapId']] });
