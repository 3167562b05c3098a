// The portable part of AFNetworking's UIKit folder: images, caches, merged downloads, the activity monitor and a
// progress bar for terminals. It does not know how a request is sent. It exports Uncurl, so one import is enough.
@_exported public import Uncurl
