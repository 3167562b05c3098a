// What people type: session managers, serializers, forms, security policy, reachability, task delegates. It knows what
// an application wants of its requests; it does not know the engine's connections. One import is enough.
@_exported public import URLLoading
