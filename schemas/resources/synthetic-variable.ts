import { defineCollection } from '../ports/documents.ts';

/** A value that checks name. The document's id is its name. */
export interface SyntheticVariable {
  readonly description: string;
  readonly isSecret: boolean;
  /** Sealed where it is a secret. */
  readonly value: string;
  /** Hosts that a secret is sent to, `shop.example` or `*.shop.example`. Empty for what is no secret. */
  readonly hosts: readonly string[];
}

export const syntheticVariables = defineCollection<SyntheticVariable>({ name: 'synthetic-variables' });

/** Of an organization. */
export const maxVariables = 500;
