/** What is wrong with a template, or with what it was filled with. */
export class TemplateError extends Error {}
