/** Finds the workerd binary, which npm installs for the platform. */
import { createRequire } from 'node:module';
import { ServeError } from './serve-error.ts';

/** The version that Citeward is tested with. */
export const WORKERD_VERSION = '1.20261023.1';

/** @throws ServeError that says what to install. */
export function workerdPath(): string {
  try {
    const workerd: { readonly default: string } = createRequire(import.meta.url)('workerd');
    return workerd.default;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
    const reason = isMissing ? 'the package workerd is not installed' : `workerd cannot be loaded: ${String(error)}`;
    throw new ServeError(`${reason}; it runs the Worker`, `Install it: npm install workerd@${WORKERD_VERSION}`);
  }
}
