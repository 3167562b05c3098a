public import Foundation

/// `request as? NSURLRequest` inside of `Any`, and back.
extension URLRequest: _ObjectiveCBridgeable {
    /// Foundation asks for it where a value becomes an object.
    public static func _getObjectiveCType() -> Any.Type { NSURLRequest.self }

    /// The request as an object that can be changed.
    public func _bridgeToObjectiveC() -> NSURLRequest { NSMutableURLRequest(self) }

    /// Foundation calls it for `as!`.
    public static func _forceBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) {
        result = input.request
    }

    /// Foundation calls it for `as?`.
    public static func _conditionallyBridgeFromObjectiveC(_ input: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = input.request
        return true
    }

    /// Foundation calls it where an object is known to be a request; none is a request to nowhere.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        guard let source else {
            // The compiler passes nil where Objective-C broke a promise, and there is no Objective-C here.
            let nothing = RequestValues(url: nil, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
            return URLRequest(storage: RequestStorage(nothing))
        }
        return source.request
    }
}

extension NSURLRequest: _StructTypeBridgeable {
    /// What the object becomes as a value.
    public typealias _StructType = URLRequest

    /// The request as a value.
    public func _bridgeToSwift() -> URLRequest { request }
}
