// The module that applications use: session managers, serializers, forms, security policy, reachability, task
// delegates. It does not know the engine's connections. It exports URLLoading, so one import is enough.
@_exported public import URLLoading
