/** Contents of reports in one form, whatever their format. */

/** A rating of a vulnerability by a source, with its CVSS vector */
export interface CvssVector {
  readonly source: string;
  readonly vector: string;
}

export interface ReportedPackage {
  readonly name: string;
  readonly version: string;
  /** Package URL; empty if the report has none */
  readonly purl: string;
  /** Type of a package URL, such as `npm` or `deb`; empty if unknown */
  readonly type: string;
  /** Ecosystem of OSV with its release, such as `Debian:12`; empty if unknown */
  readonly ecosystem: string;
}

/** A vulnerability of a package, as a scanner reports it. */
export interface ReportedFinding {
  /** Id of the report, and its aliases */
  readonly ids: readonly string[];
  readonly package: ReportedPackage;
  /** Lock file in a repository; empty for packages of images and hosts */
  readonly location: string;
  /** Part of the report to which it belongs: a later report fixes it only if it has this part */
  readonly scope: string;
  readonly severity: string;
  readonly title: string;
  readonly url: string;
  readonly vectors: readonly CvssVector[];
  readonly fixedVersions: readonly string[];
  readonly epss: number | null;
  readonly isKnownExploited: boolean;
}

export const targetKinds = ['image', 'host', 'repository', 'sbom'] as const;
export type TargetKind = (typeof targetKinds)[number];

/** Something that was scanned */
export interface ReportTarget {
  /** Digest of an image, or a name */
  readonly id: string;
  readonly name: string;
  readonly kind: TargetKind;
  /** References of an image: tags and digests */
  readonly references: readonly string[];
}

export interface ReportProblem {
  readonly path: string;
  readonly message: string;
}

/** A report about a target. */
export interface ScannerReport {
  readonly kind: 'report';
  readonly format: string;
  readonly scanner: string;
  readonly target: ReportTarget;
  /** Whether vulnerabilities that it lacks are fixed */
  readonly isComplete: boolean;
  /** Parts of the target that were scanned */
  readonly scopes: readonly string[];
  readonly findings: readonly ReportedFinding[];
  readonly packages: readonly ReportedPackage[];
  /** Whether it lists packages, so that advisories can be compared with them */
  readonly hasPackages: boolean;
  /** Statements of a bill of materials about its vulnerabilities */
  readonly statements?: readonly VexStatement[];
  readonly problems: readonly ReportProblem[];
}

/** Reports about the images that run in a cluster */
export interface ClusterReport {
  readonly kind: 'cluster';
  readonly format: string;
  readonly name: string;
  readonly reports: readonly ScannerReport[];
  readonly problems: readonly ReportProblem[];
}

export const vexStatuses = ['not_affected', 'affected', 'fixed', 'under_investigation'] as const;
export type VexStatus = (typeof vexStatuses)[number];

export interface VexStatement {
  readonly ids: readonly string[];
  /** Package URLs or names of targets; empty for all */
  readonly products: readonly string[];
  /** Target whose bill of materials has the statement; absent for statements about all targets */
  readonly target?: string;
  readonly status: VexStatus;
  readonly justification: string;
}

export interface VexDocument {
  readonly kind: 'vex';
  readonly format: string;
  readonly name: string;
  readonly statements: readonly VexStatement[];
  readonly problems: readonly ReportProblem[];
}

/** Probabilities of exploitation by CVE */
export interface EpssScores {
  readonly kind: 'epss';
  readonly format: string;
  readonly scores: readonly (readonly [id: string, score: number])[];
  readonly problems: readonly ReportProblem[];
}

export interface ExploitedCatalog {
  readonly kind: 'kev';
  readonly format: string;
  readonly ids: readonly string[];
  readonly problems: readonly ReportProblem[];
}

export interface AdvisoryRange {
  /** Versions in the order of the ecosystem; `0` for all before */
  readonly events: readonly { readonly introduced?: string; readonly fixed?: string; readonly lastAffected?: string }[];
}

export interface Advisory {
  readonly ids: readonly string[];
  readonly title: string;
  readonly vectors: readonly CvssVector[];
  readonly affected: readonly {
    readonly ecosystem: string;
    readonly name: string;
    readonly ranges: readonly AdvisoryRange[];
    readonly versions: readonly string[];
  }[];
}

export interface Advisories {
  readonly kind: 'advisories';
  readonly format: string;
  readonly advisories: readonly Advisory[];
  readonly problems: readonly ReportProblem[];
}

export type ImportedReport = ScannerReport | ClusterReport | VexDocument | EpssScores | ExploitedCatalog | Advisories;

/** Bounds of texts and lists of a report */
export const maxTextLength = 1_024;
export const maxProblems = 100;
