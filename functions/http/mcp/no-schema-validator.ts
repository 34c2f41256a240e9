/**
 * Replaces the JSON Schema validator of the MCP SDK, a tenth of the SDK's size, in the bundle of the Worker
 * (`[alias]` in wrangler.toml). The SDK needs it for a server that asks its client to fill in a form; no tool does.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error(
      'the Worker has no JSON Schema validator: delete the alias in wrangler.toml to ask clients for input',
    );
  }
}
