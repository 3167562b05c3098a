// A drop-in for FoundationNetworking: `URLSession` and its family. It knows what a request means: redirects, cookies,
// caches, challenges; it does not know how bytes travel. One import is enough, as with the original.
@_exported public import Foundation
