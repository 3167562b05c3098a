// The portable part of AFNetworking's UIKit folder: images, caches, merged downloads, the activity sign and a progress
// bar for terminals. It knows requests and answers; it does not know how a request is sent. One import is enough.
@_exported public import Uncurl
