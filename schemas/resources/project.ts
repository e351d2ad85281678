import { z } from 'zod';
import { defineCollection } from '../documents.ts';

/** The scope through which APM data is read. */
export const Project = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
});
export type Project = z.output<typeof Project>;

export const projects = defineCollection<Project>({ name: 'projects', unique: [['name']] });
