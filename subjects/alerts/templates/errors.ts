/** Error in a template, or in the values that it is rendered with. */
export class TemplateError extends Error {}
