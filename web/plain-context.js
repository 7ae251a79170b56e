// A WebGL 2 that draws nothing, for browsers without WebGL, in which boards still compute, and for the build, which runs them.

/** Accepts every call and draws nothing. `take(name)` returns the implementation of a method; none needs to do anything. */
export function plainContext(take = () => () => ({})) {
  const answers = {
    getParameter: () => 16384, getSupportedExtensions: () => [], getShaderParameter: () => true, getProgramParameter: () => 1, getExtension: () => null,
    getActiveAttrib: () => ({name: 'a', size: 1, type: 1}), getActiveUniform: () => ({name: 'u', size: 1, type: 1}),
    getShaderInfoLog: () => '', getProgramInfoLog: () => '', isEnabled: () => false, isContextLost: () => false,
  };
  return new Proxy({canvas: {width: 1, height: 1}, isPlain: true}, {get: (own, name) => own[name] ?? answers[name] ?? (/^[A-Z0-9_]+$/.test(name) ? 0 : take(name))});
}
